-- A row of each table of memories for the file's first user: a memory that a job made of the first turn, and one made of it.
INSERT INTO user_memories (memory_no, id, user_no, seq, kind, frequency, frequency_since, importance, confidence,
  reliability, consolidation_threshold, validity_window_s, origin, trust, learning_source, made_by, project,
  goal_signature, task_type, caller_id, content_hash, said_at, created_at, updated_at, title, summary, procedure, content)
SELECT 1, x'00000000000070008000000000000001', min(user_no), NULL, 'procedure', 'mid', '2026-03-01T12:00:00.000Z', 0.6, 0.8,
  0.5, 0.75, 3600, 'user', 3, 'execution', 'rules', 'home', 'lamp', 'research', 'mine', x'00000000000000000000000000000001',
  '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z', 'The lamp', 'It is lit.',
  '{"steps":["light it"],"preconditions":[],"postconditions":[]}', 'It is lit at dusk.' FROM user_scopes;
INSERT INTO user_memories (memory_no, id, user_no, session_no, kind, status, superseded_by, frequency, frequency_since,
  importance, confidence, origin, trust, learning_source, made_by, content_hash, said_at, created_at, updated_at, title,
  summary, content)
SELECT 2, x'00000000000070008000000000000002', min(user_no), 1, 'decision', 'superseded', 1, 'high',
  '2026-03-01T12:00:00.000Z', 0.6, 0.8, 'tool', 1, 'execution', 'rules', x'00000000000000000000000000000002',
  '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z', 'Lamps', 'There are two.', 'Two.'
FROM user_scopes;
INSERT INTO memory_state (memory_no, user_no, last_used_at, success_rate, validated_at, validated_by, resurfaced_on)
SELECT memory_no, user_no, '2026-03-01T12:00:00.000Z', 1.0, '2026-03-01T12:00:00.000Z', 'fs', '2026-03-01'
FROM user_memories;
INSERT INTO memory_units (user_no, seq, memory_no, words)
SELECT user_no, 100000 + memory_no, memory_no, x'00' FROM user_memories;
INSERT INTO memory_terms (user_no, memory_no, kind, term, position, name)
SELECT user_no, memory_no, 'tag', 'lamp', 1, 'Lamp' FROM user_memories;
INSERT INTO memory_edges (id, user_no, from_no, to_no, type, strength, origin, created_at, updated_at, context, description)
SELECT x'00000000000070008000000000000003', min(user_no), 1, 2, 'supersedes', 0.9, 'user', '2026-03-01T12:00:00.000Z',
  '2026-03-01T12:00:00.000Z', 'as said', 'The second lamp is gone.' FROM user_scopes;
INSERT INTO memory_sources (user_no, memory_no, source_kind, source_id, origin, made_by, seq, said_at, quote)
SELECT user_no, 1, 'turn', owner_id, 'user', 'rules', 1, '2026-03-01T12:00:00.000Z', 'two lamps' FROM recall_units
WHERE seq = 1 AND user_no = (SELECT min(user_no) FROM user_scopes) UNION ALL
SELECT user_no, 2, 'memory', id, 'user', 'rules', NULL, '2026-03-01T12:00:00.000Z', '' FROM user_memories
WHERE memory_no = 1;
INSERT INTO memory_changes (user_no, memory_no, change_no, op, group_id, made_by, made_at, old_value, new_value, reason,
  before, undone_by)
SELECT user_no, memory_no, 1, 'status', id, 'user', '2026-03-01T12:00:00.000Z', 'active', 'superseded', 'by hand',
  '{"status":"active"}', id FROM user_memories;
INSERT INTO memory_sensors (user_no, memory_no, sensor, subject, seen_hash)
SELECT user_no, memory_no, 'fs', 'home:lamp', x'01' FROM user_memories;
INSERT INTO memory_reviews (id, user_no, kind, memory_no, other_no, opened_at, why, decision, decided_at, decided_by)
SELECT id, user_no, 'merge', memory_no, 1, '2026-03-01T12:00:00.000Z', 'cosine 0.93', 'rejected',
  '2026-03-01T12:00:00.000Z', 'alex' FROM user_memories WHERE memory_no = 2;
INSERT INTO memory_episodes (id, user_no, role, memory_no, session_no, turn_number, receipt_id, happened_at, outcome, kind,
  project, task_id, caller_id, task_name, trigger, title, tags, summary)
SELECT id, user_no, 'use', memory_no, 1, 1, id, '2026-03-01T12:00:00.000Z', 'success', 'decision', 'home', 'task', 'use',
  'lamps', 'dusk', 'A lamp', '["lamp"]', 'It was lit.' FROM user_memories WHERE memory_no = 1;
INSERT INTO extracted_sessions (user_no, session_no, extracted_at)
SELECT min(user_no), 1, '2026-03-01T12:00:00.000Z' FROM user_scopes;
INSERT INTO erased_memories (user_no, id_hash) SELECT min(user_no), x'000000000000000000000000000000e1' FROM user_scopes;
UPDATE user_scopes SET tended_on = '2026-03-01' WHERE user_no = (SELECT min(user_no) FROM user_scopes);
