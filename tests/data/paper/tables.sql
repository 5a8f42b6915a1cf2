CREATE TABLE conversation_turns(id BLOB PRIMARY KEY,user_id BLOB NOT NULL,session_id BLOB NOT NULL,turn_number INTEGER NOT NULL,user_message TEXT NOT NULL,ai_response TEXT NOT NULL,user_message_tokens INTEGER NOT NULL,ai_response_tokens INTEGER NOT NULL,total_tokens INTEGER NOT NULL,timestamp TEXT NOT NULL DEFAULT(datetime('now')),snapshot_id BLOB,memory_tier TEXT NOT NULL DEFAULT'hot',is_identity_critical INTEGER DEFAULT 0,FOREIGN KEY(user_id)REFERENCES users(id)ON DELETE CASCADE,FOREIGN KEY(session_id)REFERENCES conversation_sessions(id)ON DELETE CASCADE,FOREIGN KEY(snapshot_id)REFERENCES state_snapshots(id)ON DELETE SET NULL);
CREATE INDEX idx_turns_user ON conversation_turns(user_id);
CREATE INDEX idx_turns_session ON conversation_turns(session_id);
CREATE INDEX idx_turns_timestamp ON conversation_turns(timestamp);
CREATE INDEX idx_turns_tier ON conversation_turns(memory_tier);
CREATE TABLE conversation_sessions(id BLOB PRIMARY KEY,user_id BLOB NOT NULL,started_at TEXT NOT NULL DEFAULT(datetime('now')),ended_at TEXT,turn_count INTEGER DEFAULT 0,total_tokens INTEGER DEFAULT 0,memory_tier TEXT DEFAULT'hot',FOREIGN KEY(user_id)REFERENCES users(id)ON DELETE CASCADE);
CREATE INDEX idx_sessions_user ON conversation_sessions(user_id);
CREATE INDEX idx_sessions_active ON conversation_sessions(ended_at)WHERE ended_at IS NULL;
