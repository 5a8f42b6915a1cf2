-- An item of a receipt is an array, and says only what is not as usual: a receipt has a third of the bytes. Older ones go.

DELETE FROM recall_receipts;

DROP VIEW v_receipt_items;
CREATE VIEW v_receipt_items AS
-- What a receipt considered, a row each, best first. An item is [seq, tokens, score, parts, what is unusual].
SELECT r.receipt_no, i.key + 1 AS rank, r.user_no, coalesce(i.value ->> '$[4].kind', 'turn') AS kind, u.caller_id,
       u.session_no, u.turn_number, replace(substr(u.said_at, 1, 19), 'T', ' ') AS said,
       CASE WHEN i.value ->> 0 IS NOT NULL THEN
         coalesce(i.value ->> '$[4].memory_tier', CASE WHEN i.value ->> 2 > 0 THEN 'cold' ELSE 'warm' END)
       END AS memory_tier,
       coalesce(i.value ->> 2, 0.0) AS score,
       coalesce(i.value ->> '$[4].packed_as', CASE WHEN i.value ->> 1 > 0 THEN 'whole' END) AS packed_as,
       coalesce(i.value ->> '$[4].outcome', CASE WHEN i.value ->> 1 > 0 THEN 'packed' ELSE 'below_floor' END) AS outcome,
       i.value ->> 1 AS tokens,
       (SELECT json_group_object(name.value, part.value)
        FROM json_each('["words", "meaning", "neighbours", "session", "time", "speaker", "quote", "wish", "anchors",
                         "recency", "only_time"]') AS name
        JOIN json_each(i.value -> 3) AS part ON part.key = name.key
        WHERE part.value <> 0) AS parts
FROM recall_receipts AS r JOIN json_each(r.items) AS i
LEFT JOIN recall_units AS u ON u.user_no = r.user_no AND u.seq = i.value ->> 0;

DROP VIEW v_receipts;
CREATE VIEW v_receipts AS
SELECT r.receipt_no,
       lower(substr(hex(r.id), 1, 8) || '-' || substr(hex(r.id), 9, 4) || '-' || substr(hex(r.id), 13, 4)
         || '-' || substr(hex(r.id), 17, 4) || '-' || substr(hex(r.id), 21)) AS receipt_id,
       r.user_no, r.session_no, s.caller_id AS session, replace(substr(r.asked_at, 1, 19), 'T', ' ') AS asked,
       r.query, r.profile, r.took_us, r.tokens, r.budget_tokens, r.used_at IS NOT NULL AS used, r.missing,
       json_array_length(r.items) AS items,
       (SELECT count(*) FROM json_each(r.items) AS i WHERE i.value ->> 1 > 0) AS packed
FROM recall_receipts AS r LEFT JOIN conversation_sessions AS s ON s.session_no = r.session_no;
