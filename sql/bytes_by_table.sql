-- Which tables take the room?
--
--   sqlite3 -readonly memory.db < sql/bytes_by_table.sql
--
-- All tables with their indexes, the largest first. Reads the whole file, so it takes long where that is large.
-- Needs a shell with dbstat, as Debian's is; others say "no such table: dbstat".
--   table         a name in .schema; in a backend's own database its tables too
--   bytes         whole pages, indexes included
--   index_bytes   of these, in indexes
--   unused_bytes  of these, room for more rows
--   percent       of all tables; free pages of the file are in none
.mode box

SELECT coalesce(entry.tbl_name, tree.name) AS "table",
       sum(tree.pgsize) AS bytes,
       sum(CASE entry.type WHEN 'index' THEN tree.pgsize ELSE 0 END) AS index_bytes,
       sum(tree.unused) AS unused_bytes,
       printf('%.1f', 100.0 * sum(tree.pgsize) / sum(sum(tree.pgsize)) OVER ()) AS percent
FROM dbstat AS tree LEFT JOIN sqlite_schema AS entry ON entry.name = tree.name
WHERE tree.aggregate = TRUE
GROUP BY 1
ORDER BY bytes DESC, 1;
