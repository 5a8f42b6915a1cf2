-- For people with sqlite3, as the views before.

CREATE VIEW v_summaries AS
SELECT lower(substr(hex(m.original_turn_id), 1, 8) || '-' || substr(hex(m.original_turn_id), 9, 4) || '-'
         || substr(hex(m.original_turn_id), 13, 4) || '-' || substr(hex(m.original_turn_id), 17, 4) || '-'
         || substr(hex(m.original_turn_id), 21)) AS turn_id,
       u.user_no, s.session_no, s.caller_id AS session, m.turn_number, r.caller_id,
       replace(substr(m.timestamp, 1, 19), 'T', ' ') AS said,
       m.summary_text, m.topic_keywords, m.summary_tokens, m.summarizer, m.reliability, m.original
FROM conversation_summaries AS m
JOIN conversation_sessions AS s ON s.id = m.session_id
JOIN user_scopes AS u ON u.user_id = m.user_id
LEFT JOIN recall_units AS r ON r.user_no = u.user_no AND r.seq = m.seq;

CREATE VIEW v_anchors AS
SELECT u.user_no, a.subject || '.' || a.attribute AS key, a.value, a.cardinality, round(a.strength, 3) AS strength,
       CASE WHEN a.retracted_at IS NOT NULL THEN 'retracted' WHEN a.superseded_by IS NOT NULL THEN 'superseded'
            WHEN a.valid_until IS NOT NULL THEN 'ended' ELSE 'holds' END AS state,
       substr(a.valid_from, 1, 10) AS valid_from, substr(a.valid_until, 1, 10) AS valid_until,
       (SELECT count(*) FROM derivations AS d WHERE d.user_id = a.user_id AND d.product_id = a.id) AS sources,
       (SELECT d.quote FROM derivations AS d WHERE d.user_id = a.user_id AND d.product_id = a.id
        ORDER BY d.seq DESC LIMIT 1) AS last_quote
FROM identity_anchors AS a JOIN user_scopes AS u ON u.user_id = a.user_id;

CREATE VIEW v_archive AS
SELECT u.user_no, s.session_no, s.caller_id AS session, f.frame_no, f.turn_count AS turns, f.raw_bytes,
       length(f.body) AS bytes
FROM archived_frames AS f
JOIN conversation_sessions AS s ON s.id = f.session_id
JOIN user_scopes AS u ON u.user_id = f.user_id;

CREATE VIEW v_jobs AS
SELECT j.job_no, j.kind, u.user_no, s.session_no, s.caller_id AS session, j.state, j.attempts,
       j.done_count AS done, j.total_count AS total,
       replace(substr(j.next_run_at, 1, 19), 'T', ' ') AS next_run, j.last_error
FROM jobs AS j
LEFT JOIN conversation_sessions AS s ON s.id = j.subject_id
LEFT JOIN user_scopes AS u ON u.user_id = j.user_id;
