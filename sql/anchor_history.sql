-- What was known of the user, and until when?
--
--   sqlite3 -readonly memory.db < sql/anchor_history.sql
--
-- All identity anchors, also of the past; under each key in the order in which they began.
--   user_no        whose memory they are in (users_by_size.sql says who that is)
--   key, value     user.home and a place, say; the value as it was said last
--   since, until   when it was first said, and when it ceased to hold, UTC; empty: it holds
--   state          holds; superseded: a newer value took its place; ended: somebody said that it is so no longer;
--                  retracted: a person took it back; contested: another value holds that is trusted more
--   superseded_by  the newer value
--   said, ended    how many turns, or settings by hand, say that it holds, and that it is so no longer
.mode box

SELECT u.user_no,
       replace(replace(replace(a.subject || '.' || a.attribute, char(10), ' '), char(13), ' '), char(27), '?')
         AS key,
       replace(replace(replace(a.value, char(10), ' '), char(13), ' '), char(27), '?') AS value,
       replace(substr(a.valid_from, 1, 16), 'T', ' ') AS since,
       replace(substr(coalesce(a.valid_until, a.retracted_at), 1, 16), 'T', ' ') AS until,
       CASE WHEN a.retracted_at IS NOT NULL THEN 'retracted' WHEN a.superseded_by IS NOT NULL THEN 'superseded'
            WHEN a.contests IS NOT NULL THEN 'contested'
            WHEN a.valid_until IS NOT NULL THEN 'ended' ELSE 'holds' END AS state,
       replace(replace(replace(newer.value, char(10), ' '), char(13), ' '), char(27), '?') AS superseded_by,
       (SELECT count(*) FROM derivations AS d
        WHERE d.user_id = a.user_id AND d.product_id = a.id AND d.stance = 'holds') AS said,
       (SELECT count(*) FROM derivations AS d
        WHERE d.user_id = a.user_id AND d.product_id = a.id AND d.stance = 'ends') AS ended
FROM identity_anchors AS a
JOIN user_scopes AS u ON u.user_id = a.user_id
LEFT JOIN identity_anchors AS newer ON newer.id = a.superseded_by
ORDER BY u.user_no, key, a.valid_from, a.valid_until IS NULL, a.valid_until, a.value;
