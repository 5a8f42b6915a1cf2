-- Which tiers, rules and profiles were of use?
--
--   sqlite3 -readonly memory.db < sql/of_use.sql
--
-- Counted whenever a turn was recorded that answered with a context: what the context recalled and showed. All users
-- together, the most frequent first.
--   aspect    tier: where it was; rule: why it was kept verbatim; profile: how the context was ranked; packed_as: how
--             much of it was shown; chance: rules, for each turn that the rule alone keeps and that was considered for a
--             context which showed something recalled; taken: for each of these that was shown itself; reached: contexts
--             by month and tier, hot if they showed hot turns, else if they showed something from there for what it says
--   name      which tier, rule, profile, form or month
--   hits      how often
--   users     for how many users
--   percent   of all hits of the aspect
.mode box

SELECT aspect, name, sum(hits) AS hits, count(DISTINCT user_no) AS users,
       printf('%.1f', 100.0 * sum(hits) / sum(sum(hits)) OVER (PARTITION BY aspect)) AS percent
FROM use_counts
GROUP BY aspect, name
ORDER BY aspect, sum(hits) DESC, name;
