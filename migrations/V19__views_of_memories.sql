-- For people with sqlite3, as the views before. Scores that depend on the time of asking are worked out when somebody asks.

CREATE VIEW v_memories AS
SELECT m.memory_no,
       'mem_' || lower(substr(hex(m.id), 1, 8) || '-' || substr(hex(m.id), 9, 4) || '-' || substr(hex(m.id), 13, 4)
         || '-' || substr(hex(m.id), 17, 4) || '-' || substr(hex(m.id), 21)) AS memory_id,
       m.user_no, m.caller_id, m.kind, m.status, m.frequency, m.pinned, m.title, m.project, m.session_no,
       m.goal_signature AS slot, round(m.importance, 3) AS importance, round(m.confidence, 3) AS confidence,
       round(m.reliability, 3) AS reliability, m.volatility, m.origin, m.trust, m.made_by, s.access_count AS accesses,
       s.usage_count AS uses, round(s.success_rate, 3) AS success_rate,
       replace(substr(s.last_used_at, 1, 19), 'T', ' ') AS last_used,
       replace(substr(s.validated_at, 1, 19), 'T', ' ') AS validated, s.validated_by,
       (SELECT group_concat(t.name, ' ') FROM (SELECT name FROM memory_terms WHERE user_no = m.user_no
          AND memory_no = m.memory_no AND kind = 'tag' ORDER BY position) AS t) AS tags,
       (SELECT count(*) FROM memory_sources AS d WHERE d.user_no = m.user_no AND d.memory_no = m.memory_no) AS sources,
       m.revision, m.version, m.superseded_by, replace(substr(m.said_at, 1, 19), 'T', ' ') AS said,
       replace(substr(m.updated_at, 1, 19), 'T', ' ') AS updated, m.summary, m.content
FROM user_memories AS m LEFT JOIN memory_state AS s ON s.memory_no = m.memory_no;

CREATE VIEW v_memory_edges AS
SELECT e.edge_no,
       lower(substr(hex(e.id), 1, 8) || '-' || substr(hex(e.id), 9, 4) || '-' || substr(hex(e.id), 13, 4)
         || '-' || substr(hex(e.id), 17, 4) || '-' || substr(hex(e.id), 21)) AS edge_id,
       e.user_no, e.from_no, a.title AS from_title, e.type, e.to_no, b.title AS to_title,
       round(e.strength, 3) AS strength, e.status, e.origin, e.context, e.description
FROM memory_edges AS e JOIN user_memories AS a ON a.memory_no = e.from_no JOIN user_memories AS b ON b.memory_no = e.to_no;

CREATE VIEW v_memory_changes AS
-- What happened to memories, by operation: those of one group were done, and are undone, together.
SELECT c.user_no, c.memory_no, m.title, c.change_no, c.op, c.old_value, c.new_value, c.reason, c.made_by,
       replace(substr(c.made_at, 1, 19), 'T', ' ') AS made, c.undone_by IS NOT NULL AS undone,
       lower(substr(hex(c.group_id), 1, 8) || '-' || substr(hex(c.group_id), 9, 4) || '-' || substr(hex(c.group_id), 13, 4)
         || '-' || substr(hex(c.group_id), 17, 4) || '-' || substr(hex(c.group_id), 21)) AS group_id
FROM memory_changes AS c JOIN user_memories AS m ON m.memory_no = c.memory_no;

CREATE VIEW v_memory_reviews AS
SELECT r.review_no,
       lower(substr(hex(r.id), 1, 8) || '-' || substr(hex(r.id), 9, 4) || '-' || substr(hex(r.id), 13, 4)
         || '-' || substr(hex(r.id), 17, 4) || '-' || substr(hex(r.id), 21)) AS review_id,
       r.user_no, r.kind, r.memory_no, m.title, r.other_no, r.why,
       coalesce(r.decision, 'open') AS state, replace(substr(r.opened_at, 1, 19), 'T', ' ') AS opened,
       replace(substr(r.decided_at, 1, 19), 'T', ' ') AS decided, r.decided_by
FROM memory_reviews AS r JOIN user_memories AS m ON m.memory_no = r.memory_no;

CREATE VIEW v_memory_episodes AS
-- What happened: a memory began (birth) or was of use, or a note of the day.
SELECT e.episode_no,
       lower(substr(hex(e.id), 1, 8) || '-' || substr(hex(e.id), 9, 4) || '-' || substr(hex(e.id), 13, 4)
         || '-' || substr(hex(e.id), 17, 4) || '-' || substr(hex(e.id), 21)) AS episode_id,
       e.user_no, replace(substr(e.happened_at, 1, 19), 'T', ' ') AS happened, e.role, e.outcome,
       coalesce(m.kind, e.kind) AS kind, coalesce(m.title, e.title) AS title, e.project, e.task_name, e.session_no,
       e.turn_number, e.memory_no, e.summary
FROM memory_episodes AS e LEFT JOIN user_memories AS m ON m.memory_no = e.memory_no;

DROP VIEW v_receipt_items;
CREATE VIEW v_receipt_items AS
-- What a receipt considered, a row each, best first. An item is [seq, tokens, score, parts, what is unusual]. What is not
-- said in the place of a session is a memory: its title stands here if it is there still.
SELECT r.receipt_no, i.key + 1 AS rank, r.user_no, coalesce(i.value ->> '$[4].kind', 'turn') AS kind, u.caller_id,
       u.session_no, u.turn_number, replace(substr(u.said_at, 1, 19), 'T', ' ') AS said,
       CASE WHEN i.value ->> 0 IS NOT NULL AND coalesce(i.value ->> '$[4].kind', 'turn') NOT IN ('wish', 'memory') THEN
         coalesce(i.value ->> '$[4].memory_tier', CASE WHEN i.value ->> 2 > 0 THEN 'cold' ELSE 'warm' END)
       END AS memory_tier,
       coalesce(i.value ->> 2, 0.0) AS score,
       coalesce(i.value ->> '$[4].packed_as', CASE WHEN i.value ->> 1 > 0 THEN 'whole' END) AS packed_as,
       coalesce(i.value ->> '$[4].outcome', CASE WHEN i.value ->> 1 > 0 THEN 'packed' ELSE 'below_floor' END) AS outcome,
       i.value ->> 1 AS tokens, i.value ->> '$[4].rerank_score' AS rerank_score,
       (SELECT json_group_object(name.value, part.value)
        FROM json_each('["words", "meaning", "neighbours", "session", "time", "speaker", "quote", "wish", "anchors",
                         "recency", "only_time", "coverage", "cosine", "personal", "continuation", "spread", "memory",
                         "importance", "current_relevance", "discount"]') AS name
        JOIN json_each(i.value -> 3) AS part ON part.key = name.key
        WHERE part.value <> 0) AS parts,
       CASE WHEN i.value ->> '$[4].memory' IS NOT NULL THEN 'mem_' || (i.value ->> '$[4].memory') END AS memory_id,
       i.value -> '$[4].flags' AS flags,
       (SELECT m.title FROM memory_units AS k JOIN user_memories AS m ON m.memory_no = k.memory_no
        WHERE k.user_no = r.user_no AND k.seq = i.value ->> 0) AS title
FROM recall_receipts AS r JOIN json_each(r.items) AS i
LEFT JOIN recall_units AS u ON u.user_no = r.user_no AND u.seq = i.value ->> 0;
