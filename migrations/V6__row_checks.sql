-- A checksum in every row: whether it is what was written (src/store/row_check.rs). The program gives the rows that are
-- there theirs; a migration that changes rows, or adds a column that is not NULL, sets theirs to x'00000000' again.

ALTER TABLE user_scopes ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE conversation_sessions ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE conversation_turns ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE recall_units ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE memory_tier_transitions ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE jobs ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE conversation_summaries ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE archived_frames ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE archived_turns ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE identity_anchors ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE derivations ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE postings ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE unit_blocks ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE embedding_spaces ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE user_spaces ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE vector_blocks ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE vector_gaps ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE recall_receipts ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE recall_receipt_items ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE unit_uses ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE use_counts ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE promotions ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
ALTER TABLE thermocline_settings ADD COLUMN row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */;
