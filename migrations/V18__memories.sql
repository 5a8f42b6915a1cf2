-- Memories: what the user knows beside what was said; what use did to them, what they rest on, what happened to them.

ALTER TABLE user_scopes ADD COLUMN tended_on TEXT /* The day on which the user's memories were tended last; '': never yet; NULL: there are none. */;
-- Whose memories are to be tended today.
CREATE INDEX idx_scopes_tended ON user_scopes(tended_on) WHERE tended_on IS NOT NULL;

CREATE TABLE user_memories (
  -- What a memory says and is. Changed by whoever edits it and by jobs, never by being used. Small columns first.
  memory_no         INTEGER PRIMARY KEY AUTOINCREMENT, -- Stands for the memory in inner tables; never used twice.
  id                BLOB NOT NULL UNIQUE,  -- UUIDv7, shown as mem_<uuid>.
  user_no           INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  seq               INTEGER,               -- Its unit in recall_units, with the text of now; NULL: it is not recalled.
  session_no        INTEGER,               -- Volatile: it goes with this session; NULL: it stays. No foreign key: as in recall_units.
  kind              TEXT NOT NULL CHECK (kind IN ('solution', 'fix', 'decision', 'configuration', 'problem', 'workflow',
                      'code_pattern', 'error', 'general', 'procedure', 'insight')),
  status            TEXT NOT NULL DEFAULT 'active'
                      CHECK (status IN ('active', 'archived', 'superseded', 'forgotten', 'quarantined')), -- Only active and archived ones are recalled.
  superseded_by     INTEGER,               -- The memory_no of what took its place. No foreign key: erase takes them in any order.
  frequency         TEXT NOT NULL CHECK (frequency IN ('high', 'mid', 'low', 'ultra_low')), -- How settled it is.
  frequency_since   TEXT NOT NULL,         -- System clock; the clocks of 30 and 60 days begin here.
  importance        REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),   -- How much it matters; as stated, else by kind of beginning.
  confidence        REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),   -- How likely it is true; moved by outcomes and checks.
  reliability       REAL CHECK (reliability BETWEEN 0 AND 1),           -- How good its source is; NULL: never assessed.
  consolidation_threshold REAL CHECK (consolidation_threshold BETWEEN 0 AND 1), -- Its own; NULL: that of its frequency.
  information_type  TEXT NOT NULL DEFAULT 'static'
                      CHECK (information_type IN ('static', 'semi_static', 'dynamic', 'ephemeral')),
  volatility        TEXT NOT NULL DEFAULT 'low'
                      CHECK (volatility IN ('low', 'medium', 'high', 'ephemeral')), -- How fast the world outdates it.
  validity_window_s INTEGER CHECK (validity_window_s >= 0), -- How long a check holds; 0: immediate; NULL: by volatility.
  origin            TEXT NOT NULL CHECK (origin IN ('user', 'assistant', 'tool', 'document', 'system')), -- Whose words it has.
  trust             INTEGER NOT NULL CHECK (trust BETWEEN 1 AND 4), -- 1 tool, document; 2 assistant; 3 user; 4 approved by a person.
  learning_source   TEXT NOT NULL CHECK (learning_source IN ('execution', 'consolidation', 'manual')),
  made_by           TEXT NOT NULL,         -- 'caller', 'import', 'rules', or the name of LLM#1.
  pinned            INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)), -- 1: neither fades nor is archived.
  project           TEXT,                  -- What the caller files it under; NULL: all.
  goal_signature    TEXT,                  -- Its slot: of one kind and project at most one active memory has it.
  task_type         TEXT CHECK (task_type IN ('research', 'development', 'creative', 'analysis')),
  version           INTEGER NOT NULL DEFAULT 1, -- One more than that of what it superseded.
  revision          INTEGER NOT NULL DEFAULT 1, -- Raised by every change: what an editor has read.
  caller_id         TEXT,                  -- The caller's own id for it; NULL: none.
  content_hash      BLOB NOT NULL,         -- First 16 bytes of SHA-256 over kind, title, content and procedure.
  said_at           TEXT NOT NULL,         -- When it was so, by whoever said it; ISO-8601 UTC, milliseconds.
  created_at        TEXT NOT NULL,         -- System clock, as updated_at; an import keeps those of its file.
  updated_at        TEXT NOT NULL,
  title             TEXT NOT NULL,         -- At most 200 bytes.
  summary           TEXT NOT NULL,         -- One sentence; empty: the first of the content.
  procedure         TEXT CHECK (procedure IS NULL OR (kind = 'procedure' AND json_valid(procedure))), -- {"steps":[],"preconditions":[],"postconditions":[]}
  extra             TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(extra)), -- What files said that has no column, in their order.
  content           TEXT NOT NULL,         -- At most 64 KiB.
  row_check         BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  UNIQUE (user_no, memory_no),
  CHECK ((status = 'superseded') = (superseded_by IS NOT NULL)),
  CHECK (seq IS NULL OR (status IN ('active', 'archived') AND session_no IS NULL)),
  CHECK (session_no IS NULL OR frequency = 'high'),
  CHECK (frequency <> 'ultra_low' OR trust >= 3),
  CHECK (trust >= 2 OR frequency IN ('high', 'mid')),
  CHECK (volatility <> 'ephemeral' OR frequency = 'high'),
  CHECK (volatility <> 'high' OR frequency IN ('high', 'mid'))
) STRICT;
-- The memories of a user: lists, and the daily look at all of them.
CREATE INDEX idx_user_memories_user ON user_memories(user_no, status, kind);
-- The memory with the caller's id.
CREATE UNIQUE INDEX idx_user_memories_caller ON user_memories(user_no, caller_id) WHERE caller_id IS NOT NULL;
-- The same thing is saved once.
CREATE UNIQUE INDEX idx_user_memories_hash ON user_memories(user_no, coalesce(project, ''), content_hash)
  WHERE status = 'active' AND session_no IS NULL;
-- The same thing, put away: it is restored, or refused while it is quarantined.
CREATE INDEX idx_user_memories_put_away ON user_memories(user_no, content_hash) WHERE status <> 'active';
-- What holds in a slot.
CREATE UNIQUE INDEX idx_user_memories_slot ON user_memories(user_no, coalesce(project, ''), kind, coalesce(session_no, 0), goal_signature)
  WHERE status = 'active' AND goal_signature IS NOT NULL;
-- What somebody took the place of: it holds again when that is erased.
CREATE INDEX idx_user_memories_superseded ON user_memories(user_no, superseded_by) WHERE superseded_by IS NOT NULL;
-- What goes with a session.
CREATE INDEX idx_user_memories_session ON user_memories(user_no, session_no) WHERE session_no IS NOT NULL;

CREATE TABLE memory_state (
  -- What use did to a memory. Apart from what it says, so that being used changes no text, no revision and no file.
  memory_no       INTEGER PRIMARY KEY,
  user_no         INTEGER NOT NULL,
  access_count    INTEGER NOT NULL DEFAULT 0, -- Contexts that showed it and were answered, and uses reported.
  last_used_at    TEXT,                       -- System clock; NULL: never used.
  usage_count     INTEGER NOT NULL DEFAULT 0, -- Uses with an outcome that says whether it helped.
  success_rate    REAL CHECK (success_rate BETWEEN 0 AND 1), -- Of these; NULL: there are none.
  context_count   INTEGER NOT NULL DEFAULT 0, -- Sessions in which it helped.
  project_count   INTEGER NOT NULL DEFAULT 0, -- Projects in which it helped; from 2 on it is cross_project_validated.
  validated_at    TEXT,                       -- The newest check that it passed; system clock.
  validated_by    TEXT,                       -- The sensor of that check.
  validation_count INTEGER NOT NULL DEFAULT 0, -- Checks that it passed.
  resurfacing     TEXT NOT NULL DEFAULT 'on' CHECK (resurfacing IN ('on', 'off', 'dismissed')),
  resurfaced_count INTEGER NOT NULL DEFAULT 0, -- How often a person said that it was looked at ...
  resurfaced_on   TEXT,                       -- ... and the day of the last time, or of the last dismissal.
  dismiss_count   INTEGER NOT NULL DEFAULT 0,
  row_check       BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  FOREIGN KEY (user_no, memory_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE
) STRICT;

CREATE TABLE memory_units (
  -- The texts of memories that are in the index: those of now, and older ones that wait to be taken out of it.
  user_no   INTEGER NOT NULL,
  seq       INTEGER NOT NULL, -- Its number in recall_units. That of now stands in user_memories.
  memory_no INTEGER NOT NULL,
  words     BLOB NOT NULL,    -- As in conversation_turns.
  row_check BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  UNIQUE (user_no, seq),
  FOREIGN KEY (user_no, memory_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE
) STRICT;
-- The units of a memory.
CREATE INDEX idx_memory_units_memory ON memory_units(user_no, memory_no);

CREATE TABLE memory_terms (
  -- Tags and entities of memories.
  user_no   INTEGER NOT NULL,
  memory_no INTEGER NOT NULL,
  kind      TEXT NOT NULL CHECK (kind IN ('tag', 'entity')),
  term      TEXT NOT NULL,    -- Folded: two spellings are one.
  position  INTEGER NOT NULL, -- Place in its list, from 1.
  name      TEXT NOT NULL,    -- As it was written, without '#'.
  row_check BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  PRIMARY KEY (user_no, memory_no, kind, term),
  FOREIGN KEY (user_no, memory_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- What has a tag, what is about an entity.
CREATE INDEX idx_memory_terms_term ON memory_terms(user_no, term, kind);

CREATE TABLE memory_edges (
  -- How two memories of one user stand to each other.
  edge_no     INTEGER PRIMARY KEY AUTOINCREMENT,
  id          BLOB NOT NULL UNIQUE,  -- UUIDv7.
  user_no     INTEGER NOT NULL,
  from_no     INTEGER NOT NULL,
  to_no       INTEGER NOT NULL,
  type        TEXT NOT NULL CHECK (type IN ('solves', 'causes', 'builds_on', 'alternative_to', 'depends_on', 'follows',
                'related_to', 'part_of', 'similar_to', 'contradicts', 'supersedes')),
  strength    REAL NOT NULL CHECK (strength BETWEEN 0 AND 1),
  status      TEXT NOT NULL DEFAULT 'accepted' CHECK (status IN ('accepted', 'proposed')), -- proposed: by a job; not walked.
  origin      TEXT NOT NULL CHECK (origin IN ('user', 'assistant', 'tool', 'document', 'system')),
  created_at  TEXT NOT NULL,
  updated_at  TEXT NOT NULL,
  context     TEXT NOT NULL DEFAULT '', -- One line.
  description TEXT NOT NULL DEFAULT '', -- Text of its own; empty: none.
  row_check   BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  CHECK (from_no <> to_no),
  UNIQUE (user_no, from_no, to_no, type),
  FOREIGN KEY (user_no, from_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE,
  FOREIGN KEY (user_no, to_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE
) STRICT;
-- The edges that lead to a memory.
CREATE INDEX idx_memory_edges_to ON memory_edges(user_no, to_no);
-- What holds both ways is said once.
CREATE UNIQUE INDEX idx_memory_edges_both_ways ON memory_edges(user_no, type, min(from_no, to_no), max(from_no, to_no))
  WHERE type IN ('alternative_to', 'related_to', 'similar_to', 'contradicts');

CREATE TABLE memory_sources (
  -- What a memory was made of. What anchors were made of is in derivations.
  user_no     INTEGER NOT NULL,
  memory_no   INTEGER NOT NULL,
  source_kind TEXT NOT NULL CHECK (source_kind IN ('turn', 'memory', 'caller', 'import')),
  source_id   BLOB NOT NULL,  -- The turn's or memory's id; of a call or an import an id of its own.
  origin      TEXT NOT NULL CHECK (origin IN ('user', 'assistant', 'tool', 'document', 'system')), -- Of the side that says so.
  made_by     TEXT NOT NULL,  -- Who found it: 'caller', 'import', 'rules', or the name of LLM#1.
  seq         INTEGER,        -- Of a turn: its number in recall_units.
  said_at     TEXT NOT NULL,  -- When the source said so; ISO-8601 UTC, milliseconds.
  quote       TEXT NOT NULL,  -- The words in the turn that prove it; empty: there are none.
  row_check   BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  PRIMARY KEY (user_no, memory_no, source_kind, source_id),
  FOREIGN KEY (user_no, memory_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- What was made of a turn or a memory: erase and quarantine walk it.
CREATE INDEX idx_memory_sources_source ON memory_sources(user_no, source_id);

CREATE TABLE memory_changes (
  -- What happened to a memory, in order: its history, and what undo goes back to. Use is not among it.
  user_no   INTEGER NOT NULL,
  memory_no INTEGER NOT NULL,
  change_no INTEGER NOT NULL, -- From 1.
  op        TEXT NOT NULL,    -- 'save', 'edit', 'frequency', 'status', 'supersede', 'merge', 'check', 'trust', 'resurface', 'undo'.
  group_id  BLOB NOT NULL,    -- UUIDv7: the changes of one operation, on one memory or many; undone together.
  made_by   TEXT NOT NULL,    -- 'user', 'assistant', 'import', 'tend', 'reflect', or a sensor's name.
  made_at   TEXT NOT NULL,    -- System clock; ISO-8601 UTC, milliseconds.
  old_value TEXT,             -- Of what has one value: a frequency, a status, a verdict before.
  new_value TEXT,
  reason    TEXT NOT NULL DEFAULT '', -- 'confidence 0.81 >= 0.75, 1 success'.
  before    TEXT CHECK (before IS NULL OR json_valid(before)), -- The columns that changed, as they were; NULL: none did.
  undone_by BLOB,             -- The group that took it back.
  row_check BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  UNIQUE (user_no, memory_no, change_no),
  FOREIGN KEY (user_no, memory_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE
) STRICT;
-- All that one operation did.
CREATE INDEX idx_memory_changes_group ON memory_changes(user_no, group_id);

CREATE TABLE memory_sensors (
  -- Who can check a memory, and against what.
  user_no   INTEGER NOT NULL,
  memory_no INTEGER NOT NULL,
  sensor    TEXT NOT NULL,    -- 'fs', 'code', 'http', 'runtime', 'human', or one of the caller's.
  subject   TEXT NOT NULL,    -- A name that the configuration knows, and a path below it: 'repo:src/main.rs'.
  expect    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(expect)), -- {"exists":true}, {"sha256":"..."}, {"contains":"..."} ...
  seen_hash BLOB,             -- Of what the last check saw; never the text.
  row_check BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  PRIMARY KEY (user_no, memory_no, sensor, subject),
  FOREIGN KEY (user_no, memory_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- Whom it concerns that something changed.
CREATE INDEX idx_memory_sensors_subject ON memory_sensors(user_no, sensor, subject);

CREATE TABLE memory_reviews (
  -- What waits for a person.
  review_no  INTEGER PRIMARY KEY AUTOINCREMENT,
  id         BLOB NOT NULL UNIQUE, -- UUIDv7.
  user_no    INTEGER NOT NULL,
  kind       TEXT NOT NULL,        -- 'promote', 'flagged', 'contradiction', 'merge', 'check', 'conflict', 'quarantine'.
  memory_no  INTEGER NOT NULL,
  other_no   INTEGER,              -- The other memory, where there are two. No foreign key: it may be erased.
  opened_at  TEXT NOT NULL,
  why        TEXT NOT NULL,        -- Numbers and names of rules; never what was said.
  decision   TEXT CHECK (decision IN ('approved', 'rejected', 'withdrawn')), -- NULL: it is open.
  decided_at TEXT,
  decided_by TEXT,                 -- A person, as the caller names them; a job or an LLM is refused.
  row_check  BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  FOREIGN KEY (user_no, memory_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE
) STRICT;
-- The same question is open once.
CREATE UNIQUE INDEX idx_memory_reviews_open ON memory_reviews(user_no, kind, memory_no, coalesce(other_no, 0)) WHERE decision IS NULL;
-- What goes with a memory.
CREATE INDEX idx_memory_reviews_memory ON memory_reviews(user_no, memory_no);
-- The same of the other memory.
CREATE INDEX idx_memory_reviews_other ON memory_reviews(user_no, other_no) WHERE other_no IS NOT NULL;

CREATE TABLE memory_episodes (
  -- Something that happened: a memory began, a memory was used, or a note of the day.
  episode_no  INTEGER PRIMARY KEY AUTOINCREMENT,
  id          BLOB NOT NULL UNIQUE, -- UUIDv7.
  user_no     INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  role        TEXT NOT NULL CHECK (role IN ('birth', 'use', 'note')),
  memory_no   INTEGER,              -- NULL: a note about none.
  session_no  INTEGER,              -- No foreign key: an episode outlives its session.
  turn_number INTEGER,              -- Of a use: the turn that answered the context.
  receipt_id  BLOB,                 -- Of a use: the context that showed the memory.
  happened_at TEXT NOT NULL,        -- As said; ISO-8601 UTC, milliseconds.
  outcome     TEXT CHECK (outcome IN ('success', 'failure', 'decision', 'observation', 'correction')), -- NULL: nobody said; unrated uses go when their session was looked through.
  kind        TEXT,                 -- Of a note: one of the kinds of memories.
  project     TEXT,
  task_id     TEXT,
  caller_id   TEXT,                 -- The caller's own id for a report of use: counted once.
  task_name   TEXT,
  trigger     TEXT,                 -- What prompted it.
  title       TEXT NOT NULL DEFAULT '', -- Of a note.
  tags        TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)), -- Of a note.
  summary     TEXT NOT NULL DEFAULT '', -- Of a note.
  row_check   BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  CHECK ((role = 'note') OR memory_no IS NOT NULL),
  FOREIGN KEY (user_no, memory_no) REFERENCES user_memories(user_no, memory_no) ON DELETE CASCADE
) STRICT;
-- The days of a user.
CREATE INDEX idx_memory_episodes_day ON memory_episodes(user_no, happened_at);
-- The episodes of a memory: sessions and projects in which it helped are counted here.
CREATE INDEX idx_memory_episodes_memory ON memory_episodes(user_no, memory_no) WHERE memory_no IS NOT NULL;
-- What happened in a session: erase empties it.
CREATE INDEX idx_memory_episodes_session ON memory_episodes(user_no, session_no) WHERE session_no IS NOT NULL;
-- A memory begins once.
CREATE UNIQUE INDEX idx_memory_episodes_birth ON memory_episodes(user_no, memory_no) WHERE role = 'birth';
-- One context rates a memory once.
CREATE UNIQUE INDEX idx_memory_episodes_receipt ON memory_episodes(user_no, memory_no, receipt_id) WHERE role = 'use' AND receipt_id IS NOT NULL;
-- The report of use with the caller's id.
CREATE UNIQUE INDEX idx_memory_episodes_caller ON memory_episodes(user_no, caller_id) WHERE caller_id IS NOT NULL;

CREATE TABLE extracted_sessions (
  -- Sessions that were looked through for memories: compressed again, they are not looked through again.
  user_no      INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  session_no   INTEGER NOT NULL,
  extracted_at TEXT NOT NULL, -- System clock; ISO-8601 UTC, milliseconds.
  row_check    BLOB NOT NULL DEFAULT x'00000000', -- CRC-32 of the row's other columns.
  PRIMARY KEY (user_no, session_no)
) STRICT, WITHOUT ROWID;

-- A unit may be a memory's.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(sql,
  '-- ''turn''; later others.', '-- ''turn'', ''memory''.'),
  '-- The turn''s id. No foreign key: the turn leaves, this row stays.',
  '-- The turn''s id, or the memory''s. No foreign key: the turn leaves, this row stays.'),
  '-- The turn''s session ...', '-- The turn''s session; NULL: it is no turn ...'),
  '-- First 16 bytes of SHA-256 over both sides: proves the text.',
  '-- First 16 bytes of SHA-256 over both sides: proves the text. Of a memory: as in user_memories.')
WHERE type = 'table' AND name = 'recall_units';
PRAGMA writable_schema = RESET;
