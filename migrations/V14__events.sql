-- The facts of a unit may be followed by when that is of which it speaks: builds that do not know it must not read them.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
  'What ranking needs of up to 64 neighbouring units: session, time, lengths.',
  'What ranking needs of up to 64 neighbouring units: session, time, lengths, and when that is of which they speak.')
WHERE type = 'table' AND name = 'unit_blocks';
PRAGMA writable_schema = RESET;
