-- Who said these words, and when?
--
--   sqlite3 -readonly -cmd ".parameter set :words 'night train'" memory.db < sql/find_words.sql
--
-- The 20 latest sides of turns with the words in them, latest first. In the shell itself, `.parameter set` holds
-- until `.parameter clear`. A word that may be read as a number or a date needs both kinds of quotes: "'2026-03'".
--
-- The words are sought letter by letter: % stands for any letters, _ for one. Only A to Z are equal to a to z.
-- Of turns that were summarized only the summaries are looked through: their originals are compressed, or deleted.
-- The library's own search is better: it knows other forms of a word, accents, archived turns, and what fits best.
--   user_no                            whose it is (users_by_size.sql says who that is)
--   session_no, session, turn_number   where; session is the caller's key, empty if it has none
--   said                               when, UTC
--   speaker, text                      who, and what stands around the words; (summary): nobody's own words
.mode box

WITH side AS (
  SELECT user_no, session_no, session, turn_number, said, 1 AS place, coalesce(user_name, user_origin) AS speaker, user_message AS text
  FROM v_turns
  UNION ALL
  SELECT user_no, session_no, session, turn_number, said, 2, coalesce(assistant_name, assistant_origin), ai_response FROM v_turns
  UNION ALL
  SELECT user_no, session_no, session, turn_number, said, 3, '(summary)', summary_text FROM v_summaries
), found AS (
  SELECT user_no, session_no, session, turn_number, said, speaker,
         substr(text, max(1, instr(lower(text), lower(:words)) - 24), 60) AS text
  FROM side
  WHERE text LIKE '%' || :words || '%'
  ORDER BY said DESC, session_no DESC, turn_number DESC, place DESC
  LIMIT 20
)
SELECT user_no, session_no, session, turn_number, said, speaker,
       trim(replace(replace(replace(text, char(10), ' '), char(13), ' '), char(27), '?')) AS text
FROM found
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, 'Nothing to find: the top of this file says how to set :words'
WHERE :words IS NULL;
