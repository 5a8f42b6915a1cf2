-- What waits for a person?
--
--   sqlite3 -readonly memory.db < sql/open_reviews.sql
--
-- The open reviews of all users, the oldest first.
--   opened       when it was asked, by the system clock, UTC
--   user_no      whose memory it is (users_by_size.sql says who that is)
--   review_id    what names it
--   kind         promote: is it to stay for ever? flagged, check: does it still hold? contradiction: which one holds?
--                merge: are they one? conflict: the file or the memory?
--   memory_no, title   the memory
--   other_no, other    the other one, where there are two
--   why          numbers and names of rules
.mode box

SELECT r.opened, r.user_no, r.review_id, r.kind, r.memory_no,
       replace(replace(replace(substr(r.title, 1, 40), char(10), ' '), char(13), ' '), char(27), '?') AS title,
       r.other_no,
       replace(replace(replace(substr(o.title, 1, 40), char(10), ' '), char(13), ' '), char(27), '?') AS other,
       replace(replace(replace(r.why, char(10), ' '), char(13), ' '), char(27), '?') AS why
FROM v_memory_reviews AS r LEFT JOIN v_memories AS o ON o.memory_no = r.other_no
WHERE r.state = 'open'
ORDER BY r.opened, r.review_no;
