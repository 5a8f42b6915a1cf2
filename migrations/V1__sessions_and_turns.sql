-- Sessions, turns, and what a turn needs to be found again.
-- Runs in one transaction together with the row that says it ran. WAL cannot be set here.

CREATE TABLE thermocline_settings (
  -- What this file decided once, when it was made.
  key   TEXT NOT NULL PRIMARY KEY, -- 'users_table', 'state_snapshots_table'.
  value TEXT NOT NULL              -- 'thermocline' (made here) or 'backend' (was there before: we never insert).
) STRICT, WITHOUT ROWID;

INSERT INTO thermocline_settings (key, value)
SELECT name || '_table',
       CASE WHEN EXISTS (SELECT 1 FROM sqlite_schema AS s
                         WHERE s.type = 'table' AND s.name = wanted.name COLLATE NOCASE)
            THEN 'backend' ELSE 'thermocline' END
FROM (SELECT 'users' AS name UNION ALL SELECT 'state_snapshots') AS wanted;

CREATE TABLE IF NOT EXISTS users (
  -- Whose memory it is. A backend may have its own table of this name; then only its id is used.
  id         BLOB NOT NULL PRIMARY KEY, -- UUID, 16 bytes.
  name       TEXT UNIQUE,               -- How the caller names the user; NULL if only the id is known.
  created_at TEXT NOT NULL              -- ISO-8601 UTC, milliseconds.
) STRICT;

CREATE TABLE IF NOT EXISTS state_snapshots (
  -- The backend's states that turns refer to. A backend may have its own table of this name.
  id         BLOB NOT NULL PRIMARY KEY, -- UUID, 16 bytes.
  created_at TEXT NOT NULL              -- When a turn first named it; ISO-8601 UTC, milliseconds.
) STRICT;

CREATE TABLE user_scopes (
  -- One row per user with a memory: the short key used inside, and the version of what is cached.
  user_no INTEGER PRIMARY KEY AUTOINCREMENT, -- Stands for user_id in inner tables; never used twice.
  user_id BLOB NOT NULL UNIQUE REFERENCES users(id) ON DELETE CASCADE,
  epoch   INTEGER NOT NULL DEFAULT 0,        -- Raised when something of the user is erased: caches read again.
  last_seq    INTEGER NOT NULL DEFAULT 0,    -- The newest of the user's recall units; none is numbered twice.
  indexed_seq INTEGER NOT NULL DEFAULT 0,    -- Units up to here are in the indexes; of later ones the rows are read.
  anchor_version INTEGER NOT NULL DEFAULT 0  -- Raised when an anchor changes.
) STRICT;

CREATE TABLE conversation_sessions (
  -- One conversation of one user. Ends by call or by silence, and never reopens.
  session_no     INTEGER PRIMARY KEY AUTOINCREMENT, -- Order of starting; never used twice.
  id             BLOB NOT NULL UNIQUE,              -- UUIDv7, 16 bytes.
  user_id        BLOB NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  caller_id      TEXT,                              -- The caller's own key; NULL: unnamed.
  part           INTEGER NOT NULL DEFAULT 1,        -- 2, 3 ...: the talk went on after silence, under the same key.
  project        TEXT,                              -- What the caller files it under.
  started_at     TEXT NOT NULL,                     -- When its first turn was said (until then: when it was made).
  ended_at       TEXT,                              -- When the caller ended it; by silence: when its last turn was said. NULL: open.
  end_reason     TEXT CHECK (end_reason IN ('call', 'silence')),
  successor_id   BLOB,                              -- The session that a record after silence started.
  turn_count     INTEGER NOT NULL DEFAULT 0,        -- Turns ever recorded here, wherever they are now.
  total_tokens   INTEGER NOT NULL DEFAULT 0,        -- Sum of their total_tokens.
  memory_tier    TEXT NOT NULL DEFAULT 'hot' CHECK (memory_tier IN ('hot', 'warm', 'cold')), -- hot: open.
  last_active_at TEXT NOT NULL,                     -- System clock of the last record; silence counts from here.
  CHECK ((ended_at IS NULL) = (end_reason IS NULL))
) STRICT;
-- All sessions of a user, newest first.
CREATE INDEX idx_sessions_user ON conversation_sessions(user_id);
-- The open sessions of a user; the unnamed one is what session() resumes.
CREATE INDEX idx_sessions_active ON conversation_sessions(user_id, caller_id) WHERE ended_at IS NULL;
-- The session with the caller's key: its last part.
CREATE UNIQUE INDEX idx_sessions_caller ON conversation_sessions(user_id, caller_id, part) WHERE caller_id IS NOT NULL;

CREATE TABLE conversation_turns (
  -- One user message and the reply to it. Small columns first: a scan over words never reads the texts.
  turn_key             INTEGER PRIMARY KEY,   -- session_no * 2^24 + turn_number: a session's turns lie side by side.
  id                   BLOB NOT NULL UNIQUE,  -- UUIDv7, 16 bytes.
  user_id              BLOB NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  session_id           BLOB NOT NULL REFERENCES conversation_sessions(id) ON DELETE CASCADE,
  turn_number          INTEGER NOT NULL CHECK (turn_number BETWEEN 1 AND 16777215), -- Place in the session, from 1.
  seq                  INTEGER NOT NULL,      -- Its number in recall_units.
  caller_id            TEXT,                  -- The caller's own id for it, as there.
  timestamp            TEXT NOT NULL,         -- When it was said; ISO-8601 UTC, milliseconds.
  memory_tier          TEXT NOT NULL DEFAULT 'hot' CHECK (memory_tier IN ('hot', 'warm', 'cold')),
  tier_pad             TEXT NOT NULL DEFAULT 'x', -- 'x' while hot, else '': the row keeps its size when its tier's name
                                              -- grows by a letter, so one page is written, not all of a long row.
  user_message_tokens  INTEGER NOT NULL,      -- Of the text as it was said.
  ai_response_tokens   INTEGER NOT NULL,      -- Of the text as it was said.
  total_tokens         INTEGER NOT NULL,      -- Sum of the two: what the hot tier's budget counts.
  piece_tokens         INTEGER NOT NULL,      -- Of the turn as a context renders it, names and line breaks included.
  counted_by           TEXT NOT NULL,         -- Tokenizer and piece format of the counts, 'o200k_base/1'.
  snapshot_id          BLOB REFERENCES state_snapshots(id) ON DELETE SET NULL,
  is_identity_critical INTEGER NOT NULL DEFAULT 0 CHECK (is_identity_critical IN (0, 1)), -- 1: kept verbatim for ever.
  critical_rule        TEXT,                  -- Why it is critical; 'caller': the caller said so.
  user_name            TEXT,                  -- Who wrote user_message, where there are names.
  assistant_name       TEXT,                  -- Who wrote ai_response, where there are names.
  user_origin          TEXT NOT NULL DEFAULT 'user',      -- user, assistant, tool, document or system.
  assistant_origin     TEXT NOT NULL DEFAULT 'assistant', -- the same words.
  words                BLOB NOT NULL,         -- Its words, folded, stemmed and hashed, with counts (src/text/words.rs).
  user_message         TEXT NOT NULL,
  ai_response          TEXT NOT NULL          -- Empty if nobody replied.
) STRICT;
-- All turns of a user.
CREATE INDEX idx_turns_user ON conversation_turns(user_id);
-- The turns of a session in order; a place in a session is given once.
CREATE UNIQUE INDEX idx_turns_session ON conversation_turns(session_id, turn_number);
-- Turns of a time.
CREATE INDEX idx_turns_timestamp ON conversation_turns(timestamp);
-- What is hot in a session. Partial: an index over all tiers would be rewritten by every eviction.
CREATE INDEX idx_turns_tier ON conversation_turns(session_id, turn_number) WHERE memory_tier = 'hot';
-- The turns of a snapshot, for ON DELETE SET NULL.
CREATE INDEX idx_turns_snapshot ON conversation_turns(snapshot_id) WHERE snapshot_id IS NOT NULL;

CREATE TABLE recall_units (
  -- Whatever can be recalled, one row each; its text never changes. Outlives the turn's move to the archive,
  -- so that the caller's id gives the first result for ever. Removed only by erase.
  user_no      INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  seq          INTEGER NOT NULL, -- The user's order of recording, from 1, for ever; words and vectors refer to it.
  kind         TEXT NOT NULL,    -- 'turn'; later others.
  owner_id     BLOB NOT NULL,    -- The turn's id. No foreign key: the turn leaves, this row stays.
  session_no   INTEGER,          -- The turn's session ...
  turn_number  INTEGER,          -- ... and its place there.
  caller_id    TEXT,             -- The caller's own id for it; NULL: none.
  content_hash BLOB NOT NULL,    -- First 16 bytes of SHA-256 over both sides: proves the text.
  said_at      TEXT NOT NULL,    -- As the turn's timestamp.
  PRIMARY KEY (user_no, seq)
) STRICT, WITHOUT ROWID;
-- The unit with the caller's id.
CREATE UNIQUE INDEX idx_units_caller ON recall_units(user_no, caller_id) WHERE caller_id IS NOT NULL;

CREATE TABLE memory_tier_transitions (
  -- Every move of a turn between tiers: when and why.
  user_no     INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  session_no  INTEGER NOT NULL,
  turn_number INTEGER NOT NULL,
  move_number INTEGER NOT NULL,  -- 1 for a turn's first move.
  from_tier   TEXT NOT NULL CHECK (from_tier IN ('hot', 'warm', 'cold')),
  to_tier     TEXT NOT NULL CHECK (to_tier IN ('hot', 'warm', 'cold')),
  reason      TEXT NOT NULL,     -- 'turn_limit', 'token_budget', 'session_end'.
  moved_at    TEXT NOT NULL,     -- System clock; ISO-8601 UTC, milliseconds.
  PRIMARY KEY (user_no, session_no, turn_number, move_number)
) STRICT, WITHOUT ROWID;
