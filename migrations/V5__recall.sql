-- What recall reads instead of texts, and what it leaves behind: words, vectors, receipts, use.

CREATE TABLE postings (
  -- In which units of a user a word stands. Units after indexed_seq of user_scopes are found by their rows' own words.
  user_no    INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  word       INTEGER NOT NULL, -- The folded and stemmed word, as a number (src/text/words.rs).
  first_seq  INTEGER NOT NULL, -- The first unit of this row ...
  last_seq   INTEGER NOT NULL, -- ... and the last.
  unit_count INTEGER NOT NULL,
  data       BLOB NOT NULL,    -- Gaps between units, and counts by field (src/index/postings.rs); under 900 bytes.
  PRIMARY KEY (user_no, word, first_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE unit_blocks (
  -- What ranking needs of up to 64 neighbouring units: session, time, lengths.
  user_no  INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  block_no INTEGER NOT NULL, -- (seq - 1) / 64.
  body     BLOB NOT NULL,    -- src/index/facts.rs.
  UNIQUE (user_no, block_no)
) STRICT;

CREATE TABLE embedding_spaces (
  -- Which models made the vectors. Vectors of different spaces are never compared.
  space_no  INTEGER PRIMARY KEY AUTOINCREMENT,
  model     TEXT NOT NULL,
  revision  TEXT NOT NULL,
  dims      INTEGER NOT NULL,
  text_form INTEGER NOT NULL, -- Version of how a turn becomes the texts that are embedded (src/embed/pieces.rs).
  UNIQUE (model, revision, dims, text_form)
) STRICT;

CREATE TABLE user_spaces (
  -- How far a user's units are embedded in a space.
  user_no      INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  space_no     INTEGER NOT NULL REFERENCES embedding_spaces(space_no) ON DELETE CASCADE,
  embedded_seq INTEGER NOT NULL DEFAULT 0, -- Units up to here have their vectors, but for those in vector_gaps.
  PRIMARY KEY (user_no, space_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE vector_blocks (
  -- The vectors of up to 64 neighbouring units, in one space.
  user_no  INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  space_no INTEGER NOT NULL REFERENCES embedding_spaces(space_no) ON DELETE CASCADE,
  block_no INTEGER NOT NULL, -- As in unit_blocks.
  body     BLOB NOT NULL,    -- Places, pieces, then a byte for each number (src/store/vectors.rs).
  UNIQUE (user_no, space_no, block_no)
) STRICT;

CREATE TABLE vector_gaps (
  -- Units that an embedder refused: found by words alone, and tried again.
  user_no  INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  space_no INTEGER NOT NULL REFERENCES embedding_spaces(space_no) ON DELETE CASCADE,
  seq      INTEGER NOT NULL,
  tries    INTEGER NOT NULL,
  last_error TEXT NOT NULL, -- Never contains what was said.
  PRIMARY KEY (user_no, space_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE recall_receipts (
  -- One recall: what was asked, how it was ranked, what failed. The newest 1,000 of a user.
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
  budget_tokens INTEGER,              -- Of the context; NULL: a recall by itself.
  tokens        INTEGER,              -- Of the context's text.
  took_us       INTEGER NOT NULL,     -- Microseconds.
  used_at       TEXT                  -- When a turn was recorded that it answered; NULL: none said so.
) STRICT;
-- The receipts of a user, newest last.
CREATE INDEX idx_receipts_user ON recall_receipts(user_no);

CREATE TABLE recall_receipt_items (
  -- What a recall considered, best first.
  receipt_no  INTEGER NOT NULL REFERENCES recall_receipts(receipt_no) ON DELETE CASCADE,
  rank        INTEGER NOT NULL, -- From 1.
  user_no     INTEGER NOT NULL, -- Of user_scopes; goes with its receipt.
  kind        TEXT NOT NULL CHECK (kind IN ('turn', 'summary', 'anchor')),
  unit_seq    INTEGER,          -- The unit; NULL: an anchor.
  owner_id    BLOB NOT NULL,    -- The turn's id, or the anchor's.
  memory_tier TEXT,             -- Where the turn was.
  score       REAL NOT NULL,
  parts       TEXT NOT NULL CHECK (json_valid(parts)), -- What the score was made of.
  packed_as   TEXT,             -- 'whole', 'user_half', 'extract', 'summary'; NULL: it is not in the context.
  outcome     TEXT NOT NULL,    -- Why it is in, or not.
  tokens      INTEGER NOT NULL DEFAULT 0, -- Of what is in the context.
  PRIMARY KEY (receipt_no, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE unit_uses (
  -- How often a unit was in a context that answered a turn. Counted, never ranked by.
  user_no  INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  seq      INTEGER NOT NULL,
  hits     INTEGER NOT NULL,
  last_hit TEXT NOT NULL,   -- ISO-8601 UTC, milliseconds.
  PRIMARY KEY (user_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE use_counts (
  -- How often each tier, rule and profile was of use.
  user_no INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  aspect  TEXT NOT NULL,    -- 'tier', 'rule', 'profile', 'packed_as'.
  name    TEXT NOT NULL,
  hits    INTEGER NOT NULL,
  PRIMARY KEY (user_no, aspect, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE promotions (
  -- Cold turns that are warm in a session that used them, until it ends.
  user_no     INTEGER NOT NULL REFERENCES user_scopes(user_no) ON DELETE CASCADE,
  session_no  INTEGER NOT NULL, -- The session that used it.
  seq         INTEGER NOT NULL, -- The turn's unit.
  promoted_at TEXT NOT NULL,    -- System clock; ISO-8601 UTC, milliseconds.
  PRIMARY KEY (user_no, session_no, seq)
) STRICT, WITHOUT ROWID;

CREATE VIEW v_receipts AS
SELECT r.receipt_no,
       lower(substr(hex(r.id), 1, 8) || '-' || substr(hex(r.id), 9, 4) || '-' || substr(hex(r.id), 13, 4)
         || '-' || substr(hex(r.id), 17, 4) || '-' || substr(hex(r.id), 21)) AS receipt_id,
       r.user_no, r.session_no, s.caller_id AS session, replace(substr(r.asked_at, 1, 19), 'T', ' ') AS asked,
       r.query, r.profile, r.took_us, r.tokens, r.budget_tokens, r.used_at IS NOT NULL AS used, r.missing,
       (SELECT count(*) FROM recall_receipt_items AS i WHERE i.receipt_no = r.receipt_no) AS items,
       (SELECT count(*) FROM recall_receipt_items AS i WHERE i.receipt_no = r.receipt_no AND i.packed_as IS NOT NULL)
         AS packed
FROM recall_receipts AS r LEFT JOIN conversation_sessions AS s ON s.session_no = r.session_no;

CREATE VIEW v_receipt_items AS
SELECT i.receipt_no, i.rank, i.user_no, i.kind, u.caller_id, u.session_no, u.turn_number,
       replace(substr(u.said_at, 1, 19), 'T', ' ') AS said, i.memory_tier, i.score, i.packed_as, i.outcome, i.tokens,
       i.parts
FROM recall_receipt_items AS i LEFT JOIN recall_units AS u ON u.user_no = i.user_no AND u.seq = i.unit_seq;

CREATE VIEW v_embedding AS
SELECT e.space_no, e.model, e.revision, e.dims, u.user_no, u.last_seq, coalesce(us.embedded_seq, 0) AS embedded_seq,
       (SELECT count(*) FROM vector_gaps AS g WHERE g.user_no = u.user_no AND g.space_no = e.space_no) AS gaps,
       (SELECT coalesce(sum(length(b.body)), 0) FROM vector_blocks AS b
        WHERE b.user_no = u.user_no AND b.space_no = e.space_no) AS bytes
FROM embedding_spaces AS e CROSS JOIN user_scopes AS u
LEFT JOIN user_spaces AS us ON us.user_no = u.user_no AND us.space_no = e.space_no;
