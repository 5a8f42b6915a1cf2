-- A caller can tell by one number whether anything of a user was written since it looked.

ALTER TABLE user_scopes ADD COLUMN revision INTEGER NOT NULL DEFAULT 0 /* Raised by every act that wrote something of the user, but for receipts and counts of use. No checksum covers it. */;

-- What another program inserts is seen at once, before it is taken over (V13).
CREATE TRIGGER inserted_revision AFTER UPDATE OF inserted_seq ON user_scopes WHEN NEW.inserted_seq IS NOT NULL BEGIN
  UPDATE user_scopes SET revision = revision + 1 WHERE user_no = NEW.user_no;
END;
