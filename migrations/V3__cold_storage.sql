-- What becomes of ended sessions: jobs, summaries, anchors with their evidence, the archive.

CREATE TABLE jobs (
  -- Work that outlives a process. A row goes when its work is done; a failed one stays, with its reason.
  job_no      INTEGER PRIMARY KEY AUTOINCREMENT,
  kind        TEXT NOT NULL,             -- 'compress', 'erase', 'scrub', 'index', 'embed'.
  user_id     BLOB REFERENCES users(id) ON DELETE CASCADE, -- Whose data it works on; NULL: the file.
  subject_id  BLOB,                      -- The session it works on; NULL: all of the user's.
  dedupe_key  TEXT NOT NULL UNIQUE,      -- The same work is queued once.
  priority    INTEGER NOT NULL DEFAULT 0, -- Greater goes first.
  state       TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'failed')),
  attempts    INTEGER NOT NULL DEFAULT 0, -- Tries begun since it was queued or retried.
  fence       INTEGER NOT NULL DEFAULT 0, -- Raised by whoever takes it; who holds an older one writes nothing.
  next_run_at TEXT NOT NULL,             -- Not before then; while running: when the lease ends.
  done_count  INTEGER NOT NULL DEFAULT 0, -- Turns worked on.
  total_count INTEGER NOT NULL DEFAULT 0, -- Turns to work on.
  last_error  TEXT,                      -- Why the last try failed; never contains what was said.
  created_at  TEXT NOT NULL              -- ISO-8601 UTC, milliseconds.
) STRICT;
-- The next job to run.
CREATE INDEX idx_jobs_due ON jobs(state, priority DESC, next_run_at);
-- The jobs of a user.
CREATE INDEX idx_jobs_user ON jobs(user_id);

CREATE TABLE conversation_summaries (
  -- What stands for a turn once its session is compressed; one row per summarized turn.
  turn_key            INTEGER PRIMARY KEY,   -- As the turn's: a session's summaries lie side by side.
  id                  BLOB NOT NULL UNIQUE,  -- UUIDv7.
  original_turn_id    BLOB NOT NULL UNIQUE,  -- No foreign key: the turn leaves, this row stays.
  original            TEXT NOT NULL CHECK (original IN ('archived', 'deleted')), -- Where the turn is now.
  user_id             BLOB NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  session_id          BLOB NOT NULL REFERENCES conversation_sessions(id) ON DELETE CASCADE,
  turn_number         INTEGER NOT NULL,      -- The turn's place in its session.
  seq                 INTEGER NOT NULL,      -- The turn's number in recall_units.
  snapshot_id         BLOB,                  -- The backend's state at the turn.
  timestamp           TEXT NOT NULL,         -- When the turn was said; ISO-8601 UTC, milliseconds.
  original_tokens     INTEGER NOT NULL,      -- The turn's total_tokens.
  summary_tokens      INTEGER NOT NULL,      -- Of summary_text, by the file's tokenizer at the time.
  reliability         REAL NOT NULL CHECK (reliability BETWEEN 0 AND 1), -- The least of the turn's sides.
  summarizer          TEXT NOT NULL,         -- Who wrote it: 'extractive' or the name of LLM#1.
  identity_anchor_ids TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(identity_anchor_ids)), -- What the turn is evidence for.
  topic_keywords      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(topic_keywords)),      -- JSON array of words.
  summary_text        TEXT NOT NULL          -- One sentence, about 50 tokens.
) STRICT;
-- All summaries of a user.
CREATE INDEX idx_summaries_user ON conversation_summaries(user_id);
-- The summaries of a session, for ON DELETE CASCADE.
CREATE INDEX idx_summaries_session ON conversation_summaries(session_id);

CREATE TABLE archived_frames (
  -- The originals of summarized turns: for each swap of a session one zstd frame, a line of JSON for each turn.
  frame_no   INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id    BLOB NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  session_id BLOB NOT NULL REFERENCES conversation_sessions(id) ON DELETE CASCADE,
  turn_count INTEGER NOT NULL,
  raw_bytes  INTEGER NOT NULL, -- Of the lines, before they were compressed.
  body       BLOB NOT NULL
) STRICT;
-- All frames of a user.
CREATE INDEX idx_frames_user ON archived_frames(user_id);
-- The frames of a session.
CREATE INDEX idx_frames_session ON archived_frames(session_id);

CREATE TABLE archived_turns (
  -- Where in the archive a turn is, and the words by which it is still found.
  turn_key    INTEGER PRIMARY KEY,  -- As the turn's was.
  turn_id     BLOB NOT NULL UNIQUE,
  user_no     INTEGER NOT NULL,     -- Of user_scopes; goes with its frame.
  frame_no    INTEGER NOT NULL REFERENCES archived_frames(frame_no) ON DELETE CASCADE,
  position    INTEGER NOT NULL,     -- The line in the frame, from 0.
  turn_number INTEGER NOT NULL,     -- Place in the session.
  seq         INTEGER NOT NULL,     -- Its number in recall_units, which has the hash that proves the text.
  words       BLOB NOT NULL         -- As in conversation_turns.
) STRICT;
-- The turns of a frame.
CREATE INDEX idx_archived_frame ON archived_turns(frame_no);

CREATE TABLE identity_anchors (
  -- Who the user is: one row per value of an attribute of a subject. Folded from derivations, never edited alone.
  id            BLOB NOT NULL PRIMARY KEY, -- UUIDv7.
  user_id       BLOB NOT NULL REFERENCES users(id) ON DELETE CASCADE, -- Whose memory it is in.
  subject       TEXT NOT NULL,  -- Whom it is about: 'user', 'assistant' or a folded name.
  attribute     TEXT NOT NULL,  -- 'name', 'home', 'likes' ...: a closed list (ARCHITECTURE.md).
  value_key     TEXT NOT NULL,  -- The value folded: two spellings are one value.
  value         TEXT NOT NULL,  -- As it was said last.
  cardinality   TEXT NOT NULL CHECK (cardinality IN ('one', 'many')), -- one: a new value supersedes the old.
  strength      REAL NOT NULL CHECK (strength BETWEEN 0 AND 1), -- 1 - 0.5^n for n turns that say so.
  valid_from    TEXT NOT NULL,  -- When it was said first, and not ended since; ISO-8601 UTC, milliseconds.
  valid_until   TEXT,           -- When it was superseded or ended; NULL: it holds.
  superseded_by BLOB,           -- The anchor with the newer value.
  retracted_at  TEXT,           -- When a person took it back, by the system clock.
  retracted_seq INTEGER,        -- The user's newest turn at that time: what is said later counts again.
  UNIQUE (user_id, subject, attribute, value_key)
) STRICT;

CREATE TABLE derivations (
  -- What each anchor came from. (What a summary came from is its original_turn_id.)
  user_id      BLOB NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  product_kind TEXT NOT NULL,  -- 'anchor'; later others.
  product_id   BLOB NOT NULL,
  source_kind  TEXT NOT NULL CHECK (source_kind IN ('turn', 'caller')), -- caller: set by hand.
  source_id    BLOB NOT NULL,  -- The turn; of what was set by hand, an id of its own.
  stance       TEXT NOT NULL CHECK (stance IN ('holds', 'ends')), -- The source says that it is so, or no longer.
  seq          INTEGER NOT NULL, -- The turn's place in the user's order; by hand: that of the newest turn then.
  said_at      TEXT NOT NULL,  -- When the turn was said; by hand: the system clock. ISO-8601 UTC, milliseconds.
  made_by      TEXT NOT NULL,  -- Who found it: 'extractive', the name of LLM#1, or 'caller'.
  value        TEXT NOT NULL,  -- The value as it stands there.
  quote        TEXT NOT NULL,  -- The words in the turn that prove it.
  PRIMARY KEY (user_id, product_id, source_id, stance)
) STRICT, WITHOUT ROWID;
-- What came from a turn: erase walks it.
CREATE INDEX idx_derivations_source ON derivations(user_id, source_id);

-- What ended before there were jobs is compressed too.
INSERT INTO jobs (kind, user_id, subject_id, dedupe_key, next_run_at, total_count, created_at)
SELECT 'compress', user_id, id, 'compress:' || lower(hex(id)), last_active_at, turn_count, last_active_at
FROM conversation_sessions WHERE memory_tier = 'warm' AND turn_count > 0;
