-- A receipt may name a standing wish, a sentence of a turn that lives in no tier: builds that do not know the word must not
-- read the file.

DROP VIEW v_receipt_items;
CREATE VIEW v_receipt_items AS
-- What a receipt considered, a row each, best first. An item is [seq, tokens, score, parts, what is unusual].
SELECT r.receipt_no, i.key + 1 AS rank, r.user_no, coalesce(i.value ->> '$[4].kind', 'turn') AS kind, u.caller_id,
       u.session_no, u.turn_number, replace(substr(u.said_at, 1, 19), 'T', ' ') AS said,
       CASE WHEN i.value ->> 0 IS NOT NULL AND coalesce(i.value ->> '$[4].kind', 'turn') <> 'wish' THEN
         coalesce(i.value ->> '$[4].memory_tier', CASE WHEN i.value ->> 2 > 0 THEN 'cold' ELSE 'warm' END)
       END AS memory_tier,
       coalesce(i.value ->> 2, 0.0) AS score,
       coalesce(i.value ->> '$[4].packed_as', CASE WHEN i.value ->> 1 > 0 THEN 'whole' END) AS packed_as,
       coalesce(i.value ->> '$[4].outcome', CASE WHEN i.value ->> 1 > 0 THEN 'packed' ELSE 'below_floor' END) AS outcome,
       i.value ->> 1 AS tokens, i.value ->> '$[4].rerank_score' AS rerank_score,
       (SELECT json_group_object(name.value, part.value)
        FROM json_each('["words", "meaning", "neighbours", "session", "time", "speaker", "quote", "wish", "anchors",
                         "recency", "only_time", "coverage", "cosine", "personal", "continuation", "spread"]') AS name
        JOIN json_each(i.value -> 3) AS part ON part.key = name.key
        WHERE part.value <> 0) AS parts
FROM recall_receipts AS r JOIN json_each(r.items) AS i
LEFT JOIN recall_units AS u ON u.user_no = r.user_no AND u.seq = i.value ->> 0;
