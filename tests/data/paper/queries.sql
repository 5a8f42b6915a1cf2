-- Queries of the tiers' access patterns on those tables. After inserts.sql, each returns rows, in a file of ours as in theirs.
SELECT id,user_message,ai_response FROM conversation_turns WHERE memory_tier='hot';
SELECT user_message,ai_response,timestamp FROM conversation_turns WHERE session_id=x'11111111111111111111111111111111' ORDER BY turn_number DESC LIMIT 5;
SELECT sum(total_tokens) FROM conversation_turns WHERE session_id=x'11111111111111111111111111111111' AND memory_tier='hot';
SELECT turn_number,user_message FROM conversation_turns WHERE session_id=x'11111111111111111111111111111111' ORDER BY timestamp DESC LIMIT 50;
SELECT turn_number FROM conversation_turns WHERE session_id=x'11111111111111111111111111111111' AND user_message LIKE'%quantum%';
SELECT id FROM conversation_turns WHERE user_id=x'00000000000000000000000000000007' AND is_identity_critical=1;
SELECT id FROM conversation_turns WHERE user_id=x'00000000000000000000000000000007' AND timestamp>='2026-02-28';
SELECT id,turn_count,total_tokens FROM conversation_sessions WHERE ended_at IS NULL;
SELECT id FROM conversation_sessions WHERE user_id=x'00000000000000000000000000000007' ORDER BY started_at DESC;
