-- A turn that was the best of three contexts is kept verbatim ('used'), and more is counted: builds that do not know the word
-- must not read the file. NULL changes no checksum, so rows that are there stay as they are.

ALTER TABLE unit_uses ADD COLUMN best INTEGER /* Of hits, in how many contexts it was the best of what was recalled; NULL: none. */;

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
  '-- How often each tier, rule and profile was of use.',
  '-- How often something was of use in contexts that answered a turn, had a chance of it, or was reached by them.'),
  '-- ''tier'', ''rule'', ''profile'', ''packed_as''.',
  '-- ''tier'', ''rule'', ''profile'', ''packed_as'', ''chance'', ''taken'', ''reached''.')
WHERE type = 'table' AND name = 'use_counts';
PRAGMA writable_schema = RESET;
