-- How far is each user embedded, and by which model?
--
--   sqlite3 -readonly memory.db < sql/embedding.sql
--
-- A row for each model of the file and each user. What a model has not embedded yet is found by words and by the
-- built-in embedder.
--   model, revision, dims   the model, and how many numbers its vectors have
--   user_no                 whose units (users_by_size.sql says who that is)
--   units                   the number of the user's newest unit: a turn, or a text of a memory
--   embedded                how far the model is; the built-in one is behind by up to 128, and makes these vectors anew
--                           for each program
--   gaps                    units before that which it has refused, or whose text has changed; tried again
--   bytes                   size of the vectors
.mode box

SELECT model, revision, dims, user_no, last_seq AS units, embedded_seq AS embedded, gaps, bytes
FROM v_embedding
WHERE last_seq > 0
ORDER BY model, revision, dims, user_no;
