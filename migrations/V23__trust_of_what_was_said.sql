-- Everything that has an origin has a trust, and what is trusted less changes nothing that is trusted more. NULL is the
-- user's, so no checksum of older rows changes.

ALTER TABLE conversation_turns ADD COLUMN recorded_by TEXT CHECK (recorded_by IN ('user', 'assistant', 'tool', 'document', 'system')) /* Who handed the turn over; neither side is trusted more. NULL: the user. */;
ALTER TABLE conversation_sessions ADD COLUMN trust INTEGER CHECK (trust BETWEEN 1 AND 4) /* As far as who opened it or the most trusted of its turns, 1 to 4. NULL: 3. */;
ALTER TABLE derivations ADD COLUMN trust INTEGER CHECK (trust BETWEEN 1 AND 4) /* Of the side of the turn that says so, or of who set it by hand. NULL: 3. */;
ALTER TABLE identity_anchors ADD COLUMN trust INTEGER CHECK (trust BETWEEN 1 AND 4) /* Of those who said last whether it holds. NULL: 3. */;
ALTER TABLE identity_anchors ADD COLUMN retracted_trust INTEGER CHECK (retracted_trust BETWEEN 1 AND 4) /* Of who retracted it; what is trusted less does not state it again. NULL: 3. */;
ALTER TABLE identity_anchors ADD COLUMN contests BLOB /* The anchor that holds and is trusted more, beside which this one was said. NULL: it contests none. */;

DROP VIEW v_sessions;
CREATE VIEW v_sessions AS
SELECT s.session_no,
       lower(substr(hex(s.id), 1, 8) || '-' || substr(hex(s.id), 9, 4) || '-' || substr(hex(s.id), 13, 4)
         || '-' || substr(hex(s.id), 17, 4) || '-' || substr(hex(s.id), 21)) AS session_id,
       u.user_no,
       s.caller_id AS session, s.part, s.title, s.project, s.memory_tier,
       CASE WHEN s.ended_at IS NULL THEN 'open' ELSE 'ended by ' || s.end_reason END AS state,
       replace(substr(s.started_at, 1, 19), 'T', ' ') AS started,
       replace(substr(s.ended_at, 1, 19), 'T', ' ') AS ended,
       replace(substr(s.last_active_at, 1, 19), 'T', ' ') AS last_active,
       s.turn_count, s.total_tokens, coalesce(s.trust, 3) AS trust, s.metadata
FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id;

DROP VIEW v_turns;
CREATE VIEW v_turns AS
SELECT lower(substr(hex(t.id), 1, 8) || '-' || substr(hex(t.id), 9, 4) || '-' || substr(hex(t.id), 13, 4)
         || '-' || substr(hex(t.id), 17, 4) || '-' || substr(hex(t.id), 21)) AS turn_id,
       u.user_no, s.session_no, s.caller_id AS session, t.turn_number, t.seq, t.caller_id,
       replace(substr(t.timestamp, 1, 19), 'T', ' ') AS said,
       t.memory_tier, t.is_identity_critical AS critical, t.critical_rule,
       t.total_tokens, t.piece_tokens, t.counted_by,
       length(CAST(t.user_message AS BLOB)) + length(CAST(t.ai_response AS BLOB)) AS text_bytes,
       t.user_name, t.user_origin, t.user_message, t.assistant_name, t.assistant_origin, t.ai_response,
       coalesce(t.recorded_by, 'user') AS recorded_by, t.metadata
FROM conversation_turns AS t
JOIN conversation_sessions AS s ON s.id = t.session_id
JOIN user_scopes AS u ON u.user_id = t.user_id;

DROP VIEW v_anchors;
CREATE VIEW v_anchors AS
SELECT u.user_no, a.subject || '.' || a.attribute AS key, a.value, a.cardinality, round(a.strength, 3) AS strength,
       CASE WHEN a.retracted_at IS NOT NULL THEN 'retracted' WHEN a.superseded_by IS NOT NULL THEN 'superseded'
            WHEN a.contests IS NOT NULL THEN 'contested'
            WHEN a.valid_until IS NOT NULL THEN 'ended' ELSE 'holds' END AS state,
       coalesce(a.trust, 3) AS trust,
       substr(a.valid_from, 1, 10) AS valid_from, substr(a.valid_until, 1, 10) AS valid_until,
       (SELECT count(*) FROM derivations AS d WHERE d.user_id = a.user_id AND d.product_id = a.id) AS sources,
       (SELECT d.quote FROM derivations AS d WHERE d.user_id = a.user_id AND d.product_id = a.id
        ORDER BY d.seq DESC LIMIT 1) AS last_quote
FROM identity_anchors AS a JOIN user_scopes AS u ON u.user_id = a.user_id;
