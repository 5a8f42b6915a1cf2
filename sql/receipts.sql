-- What was asked lately, and what came of it?
--
--   sqlite3 -readonly memory.db < sql/receipts.sql
--
-- The 20 latest recalls and contexts of all users, the latest at the bottom. Each user's newest are kept.
--   receipt_no            number, for why_recalled.sql
--   asked                 when, by the system clock, UTC
--   user_no               whose memory it is (users_by_size.sql says who that is)
--   session_no, session   the session whose context it was for; session is the caller's key. Empty: a recall by itself
--   query                 how the question begins
--   profile               how it was ranked: default, paper, recency, custom, continuum
--   items, packed         what was considered, and what of it is in the context
--   tokens, budget        of the context; empty: a recall by itself
--   ms                    milliseconds that finding and packing took
--   used                  1: a turn was recorded that it answered
--   missing               what failed, so that it was answered without; []: nothing
.mode box

WITH latest AS (
  SELECT receipt_no, asked, user_no, session_no, session, query, profile, items, packed, tokens, budget_tokens, took_us,
         used, missing
  FROM v_receipts
  ORDER BY receipt_no DESC
  LIMIT 20
)
SELECT receipt_no, asked, user_no, session_no, session,
       replace(replace(replace(substr(query, 1, 48), char(10), ' '), char(13), ' '), char(27), '?') AS query,
       profile, items, packed, tokens, budget_tokens AS budget, printf('%.1f', took_us / 1000.0) AS ms, used,
       replace(replace(replace(missing, char(10), ' '), char(13), ' '), char(27), '?') AS missing
FROM latest
ORDER BY receipt_no;
