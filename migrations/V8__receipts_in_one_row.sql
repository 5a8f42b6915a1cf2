-- A receipt is one row, its items JSON; what is warm in a session for its use is no move between tiers.

DROP VIEW v_receipt_items;
DROP VIEW v_receipts;
-- Ids and numbers, no text: overwriting a million of them would take seconds.
PRAGMA secure_delete = OFF;
DROP TABLE recall_receipt_items;
PRAGMA secure_delete = ON;
DROP TABLE recall_receipts;

CREATE TABLE recall_receipts (
  -- One recall: what was asked, how it was ranked, what failed, what was considered. The newest 1,000 of a user.
  receipt_no    INTEGER PRIMARY KEY AUTOINCREMENT,
  id            BLOB NOT NULL UNIQUE, -- UUIDv7.
  user_no       INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  session_no    INTEGER,              -- The session whose context it was for; NULL: a recall by itself.
  asked_at      TEXT NOT NULL,        -- System clock; ISO-8601 UTC, milliseconds.
  now           TEXT NOT NULL,        -- The moment of asking that ages were measured from.
  query         TEXT NOT NULL,
  profile       TEXT NOT NULL,
  weights       TEXT NOT NULL CHECK (json_valid(weights)),    -- The profile's weights.
  understood    TEXT NOT NULL CHECK (json_valid(understood)), -- What the query was taken for.
  missing       TEXT NOT NULL CHECK (json_valid(missing)),    -- What failed, so that it was answered without.
  items         TEXT NOT NULL CHECK (json_valid(items)),      -- What was considered, best first; v_receipt_items reads it.
  at_hand       TEXT NOT NULL CHECK (json_valid(at_hand)),    -- Units that are promoted once the context was of use.
  budget_tokens INTEGER,              -- Of the context; NULL: a recall by itself.
  tokens        INTEGER,              -- Of the context's text.
  took_us       INTEGER NOT NULL,     -- Microseconds.
  used_at       TEXT,                 -- When a turn was recorded that it answered; NULL: none said so.
  row_check     BLOB NOT NULL DEFAULT x'00000000' -- CRC-32 of the row's other columns.
) STRICT;
-- The receipts of a user, newest last.
CREATE INDEX idx_receipts_user ON recall_receipts(user_no);

CREATE VIEW v_receipts AS
SELECT r.receipt_no,
       lower(substr(hex(r.id), 1, 8) || '-' || substr(hex(r.id), 9, 4) || '-' || substr(hex(r.id), 13, 4)
         || '-' || substr(hex(r.id), 17, 4) || '-' || substr(hex(r.id), 21)) AS receipt_id,
       r.user_no, r.session_no, s.caller_id AS session, replace(substr(r.asked_at, 1, 19), 'T', ' ') AS asked,
       r.query, r.profile, r.took_us, r.tokens, r.budget_tokens, r.used_at IS NOT NULL AS used, r.missing,
       json_array_length(r.items) AS items,
       (SELECT count(*) FROM json_each(r.items) AS i WHERE i.value ->> 'packed_as' IS NOT NULL) AS packed
FROM recall_receipts AS r LEFT JOIN conversation_sessions AS s ON s.session_no = r.session_no;

CREATE VIEW v_receipt_items AS
SELECT r.receipt_no, i.key + 1 AS rank, r.user_no, coalesce(i.value ->> 'kind', 'turn') AS kind, u.caller_id,
       u.session_no, u.turn_number, replace(substr(u.said_at, 1, 19), 'T', ' ') AS said,
       i.value ->> 'memory_tier' AS memory_tier, coalesce(i.value ->> 'score', 0.0) AS score,
       i.value ->> 'packed_as' AS packed_as, coalesce(i.value ->> 'outcome', 'packed') AS outcome,
       coalesce(i.value ->> 'tokens', 0) AS tokens, coalesce(i.value -> 'parts', '{}') AS parts
FROM recall_receipts AS r JOIN json_each(r.items) AS i
LEFT JOIN recall_units AS u ON u.user_no = r.user_no AND u.seq = i.value ->> 'seq';

CREATE VIEW v_promotions AS
-- Cold turns at hand in an open session, for its answers used them.
SELECT p.user_no, p.session_no AS used_in, u.session_no, u.turn_number, u.caller_id,
       replace(substr(p.promoted_at, 1, 19), 'T', ' ') AS promoted
FROM promotions AS p JOIN recall_units AS u ON u.user_no = p.user_no AND u.seq = p.seq;

-- What was promoted stood among the moves, for ever: a job takes it out of them.
INSERT INTO jobs (kind, user_id, dedupe_key, priority, next_run_at, created_at)
SELECT 'prune', u.user_id, 'prune:' || lower(hex(u.user_id)), -2, strftime('%Y-%m-%dT%H:%M:%fZ'), strftime('%Y-%m-%dT%H:%M:%fZ')
FROM user_scopes AS u
WHERE EXISTS (SELECT 1 FROM memory_tier_transitions AS m
              WHERE m.user_no = u.user_no AND m.reason IN ('recall', 'recall_end'));
