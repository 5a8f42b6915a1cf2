-- Which jobs wait, and why?
--
--   sqlite3 -readonly memory.db < sql/jobs.sql
--
-- All jobs, in the order in which they will run; those that were given up come last. One that is done is not here.
--   job_no                number, for thermocline jobs retry
--   kind                  compress: a session has ended; extract: it is still to be looked through for memories; erase: an erase was cut short; scrub: the file still holds
--                         what was erased; index, embed: words and vectors of new turns are put in their places; mend:
--                         words and vectors that are damaged are made anew; derive: what older rules derived of turns
--                         (words, why they are kept, anchors) is derived anew; its turns are those up to there;
--                         prune: what older versions kept for ever is taken out; validate: sensors look whether
--                         memories hold that are stale and were shown; tend: it is a new day for
--                         the user's memories
--   user_no               whose data it works on (users_by_size.sql says who that is); empty: the file
--   session_no, session   which session, if it is about one; session is the caller's key, empty if it has none
--   waits                 due: for whoever runs jobs; put off: for its next try; running: for nothing; cut off: for
--                         somebody else, since who worked on it is gone; given up: for thermocline jobs retry
--   until                 when it is due; running: when its lease ends, UTC
--   done, turns           turns it has worked on, and all that it is about
--   tries                 begun since it was queued or retried
--   last_error            why the last try failed
--
-- To read an old copy as of its own day, set the present (UTC), with both kinds of quotes:
--
--   sqlite3 -readonly -cmd ".parameter set :now \"'2026-03-01 12:00'\"" copy.db < sql/jobs.sql
.mode box

SELECT job_no, kind, user_no, session_no, session,
       CASE WHEN state = 'failed' THEN 'given up'
            WHEN state = 'running' AND unixepoch(next_run) > unixepoch(coalesce(:now, 'now')) THEN 'running'
            WHEN state = 'running' THEN 'cut off'
            WHEN unixepoch(next_run) > unixepoch(coalesce(:now, 'now')) THEN 'put off'
            ELSE 'due' END AS waits,
       CASE WHEN state <> 'failed' THEN next_run END AS until,
       done, total AS turns, attempts AS tries,
       replace(replace(replace(last_error, char(10), ' '), char(13), ' '), char(27), '?') AS last_error
FROM v_jobs
ORDER BY state = 'failed', CASE kind WHEN 'erase' THEN 0 WHEN 'scrub' THEN 0 WHEN 'compress' THEN 1
                                     WHEN 'derive' THEN 3 WHEN 'tend' THEN 3 ELSE 2 END,
         next_run, job_no;
