-- A report of use by somebody who is trusted less than the memory counts nothing, and is kept as what it is.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(replace(sql,
  'role IN (''birth'', ''use'', ''note'')', 'role IN (''birth'', ''use'', ''note'', ''report'')'),
  '-- Something that happened: a memory began, a memory was used, or a note of the day.',
  '-- Something that happened: a memory began, a memory was used or reported to have been (which counts nothing), or a note of the day.'),
  '-- Of a use: the context that showed the memory.', '-- Of a use or a report: the context that showed the memory.')
WHERE type = 'table' AND name = 'memory_episodes';
UPDATE sqlite_schema SET sql = replace(replace(sql,
  'Use is not among it.', 'A use is among it if it rated the memory.'),
  '''resurface'', ''undo''.', '''resurface'', ''use'', ''undo''.')
WHERE type = 'table' AND name = 'memory_changes';
UPDATE sqlite_schema SET sql = replace(sql,
  'so that being used changes no text, no revision and no file.', 'so that being used changes no text and no revision.')
WHERE type = 'table' AND name = 'memory_state';
PRAGMA writable_schema = RESET;
