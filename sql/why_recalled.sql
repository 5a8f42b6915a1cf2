-- Why was something recalled, and what became of it?
--
--   sqlite3 -readonly memory.db < sql/why_recalled.sql
--
-- What one recall or context considered, best first: the latest one, unless another is asked for. `thermocline why`
-- says it in words.
--   receipt_no                which (receipts.sql lists them)
--   rank                      from 1
--   kind                      turn, summary (of a turn whose original was deleted), anchor, wish or memory
--   session_no, turn_number   where it was said; empty: an anchor, a memory, or it was erased
--   said                      when, UTC
--   tier                      where it was then
--   score                     greater is better
--   outcome                   recalled; packed: it is in the context; promoted: likewise, since it was of use earlier in
--                             the session; already_shown; no_room; below_floor: it fits too badly
--   packed_as, tokens         how much of it is in the context: whole, user_half, extract, summary
--   parts                     what the score was made of; what is not named is 0
--   memory                    of a memory: its title and what to mind of it
--
--   sqlite3 -readonly -cmd ".parameter set :receipt 7" memory.db < sql/why_recalled.sql
.mode box

SELECT i.receipt_no, i.rank, i.kind, i.session_no, i.turn_number, i.said, i.memory_tier AS tier,
       printf('%.3f', i.score) AS score, i.outcome, i.packed_as, i.tokens,
       (SELECT group_concat(part.key || ' ' || printf('%.2f', part.value), ', ') FROM json_each(i.parts) AS part
        WHERE part.value >= 0.005) AS parts,
       trim(coalesce(i.title, i.memory_id, '') || ' ' || coalesce(i.flags, '')) AS memory
FROM v_receipt_items AS i
WHERE i.receipt_no = coalesce(:receipt, (SELECT max(receipt_no) FROM v_receipts))
ORDER BY i.rank;
