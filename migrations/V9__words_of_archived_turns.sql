-- The words of an archived turn are in the index, and can be worked out from its text: the archive need not have them too.

CREATE TEMP TABLE kept AS
SELECT turn_key, turn_id, user_no, frame_no, position, turn_number, seq FROM archived_turns;
DROP TABLE archived_turns;

CREATE TABLE archived_turns (
  -- Where in the archive a turn is.
  turn_key    INTEGER PRIMARY KEY,  -- As the turn's was.
  turn_id     BLOB NOT NULL UNIQUE,
  user_no     INTEGER NOT NULL,     -- Of user_scopes; goes with its frame.
  frame_no    INTEGER NOT NULL REFERENCES archived_frames(frame_no) ON DELETE CASCADE,
  position    INTEGER NOT NULL,     -- The line in the frame, from 0.
  turn_number INTEGER NOT NULL,     -- Place in the session.
  seq         INTEGER NOT NULL,     -- Its number in recall_units, which has the hash that proves the text.
  row_check   BLOB NOT NULL DEFAULT x'00000000' -- CRC-32 of the row's other columns.
) STRICT;
-- The turns of a frame.
CREATE INDEX idx_archived_frame ON archived_turns(frame_no);

INSERT INTO archived_turns (turn_key, turn_id, user_no, frame_no, position, turn_number, seq)
SELECT turn_key, turn_id, user_no, frame_no, position, turn_number, seq FROM kept;
DROP TABLE kept;
