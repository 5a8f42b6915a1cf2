-- Who is the user?
--
--   sqlite3 -readonly memory.db < sql/anchors.sql
--
-- All identity anchors that hold now, each user's together, by key.
--   user_no      whose memory they are in (users_by_size.sql says who that is)
--   key          subject and attribute: user.home; the subject is user, assistant, or a name
--   value        as it was said last
--   strength     1 - 0.5^n for n turns that say so
--   since        when it was first said, and not ended since, UTC
--   sources      how many turns, or settings by hand, it comes from
--   last_quote   the words that prove it, from the latest of them; empty if it was set by hand
.mode box

SELECT user_no,
       replace(replace(replace(key, char(10), ' '), char(13), ' '), char(27), '?') AS key,
       replace(replace(replace(value, char(10), ' '), char(13), ' '), char(27), '?') AS value,
       strength, valid_from AS since, sources,
       replace(replace(replace(substr(last_quote, 1, 60), char(10), ' '), char(13), ' '), char(27), '?')
         AS last_quote
FROM v_anchors
WHERE state = 'holds'
ORDER BY user_no, key, valid_from, value;
