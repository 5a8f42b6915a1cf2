-- Why did turns move between tiers?
--
--   sqlite3 -readonly memory.db < sql/why_it_moved.sql
--
-- All moves on record, by reason; the most frequent first.
--   from_tier, to_tier   where the turns were, and where they went
--   reason               turn_limit: the hot tier had too many turns; token_budget: it had too many tokens;
--                        session_end: the session ended, by call or by silence; compression: the ended session was
--                        compressed; restoration: that was undone
--   moves, sessions      how many moves, in how many sessions
--   first, last          the first and the last of them by the system clock, UTC
.mode box

SELECT from_tier, to_tier, reason,
       count(*) AS moves, count(DISTINCT session_no) AS sessions,
       min(moved) AS first, max(moved) AS last
FROM v_transitions
GROUP BY from_tier, to_tier, reason
ORDER BY moves DESC, reason, from_tier, to_tier;
