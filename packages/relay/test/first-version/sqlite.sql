CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY);
INSERT INTO schema_migrations VALUES(1);
CREATE TABLE accounts (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      uuid TEXT NOT NULL UNIQUE,
      alias_id TEXT NOT NULL UNIQUE,
      nickname TEXT NOT NULL,
      ed25519_public_key TEXT UNIQUE,
      x25519_public_key TEXT,
      created_at BIGINT NOT NULL,
      deleted_at BIGINT
    );
INSERT INTO accounts VALUES(1,'07c7a75c-cb98-4682-a12c-5357c475351f','u00048636','Ada','sSpusN91Pqh/Na9MpXBgS2Gat5dpCBJXpkg1mnkJdIQ=','+u7yJyp7qJnFQa8o5WzavUGtlFKB5kteGbhWsxD/BUI=',1795446210511,NULL);
INSERT INTO accounts VALUES(2,'d17a07d5-a316-434a-ab57-c87bd7822bd6','u14827345','Ben','y2B/qErqXbtKP7r8nxTxgRQY1dvLYKeIWnGGeD/BAIQ=','0oXPYEPQItjrK8MTZpRI+MtnCwnhddYIEt2m4jBuAGw=',1795446210622,NULL);
INSERT INTO accounts VALUES(3,'de91f59b-f8a5-4ba4-8480-9419d32f7f08','u95704295','Cleo','RQe4TK1vhb98GK4hvuPHN9DYu33y5Tvx9napRqhhQII=','A7lFFBeR3Odsdiggr1YE/D1SL5Psa59yPtOTppS0fUs=',1795446210684,NULL);
INSERT INTO accounts VALUES(4,'1004c890-0030-4e23-91f5-e280d07a1097','u21912535','Da' || char(8238) || 'n','rNkPEtt6AM3rayr/xi4dXz+kZ/LAY7lRGCHTebL12cI=','qZomDbU6ctdCwT8VGFNmWTGBKSPVT58zWjJV7/GidRU=',1795446210731,NULL);
INSERT INTO accounts VALUES(5,'8dac164a-1d82-4a20-b738-90527353aecf','u05146262','',NULL,NULL,1795446210788,1795446211086);
CREATE TABLE aliases (
      alias_id TEXT PRIMARY KEY,
      account_id BIGINT NOT NULL REFERENCES accounts (id)
    );
INSERT INTO aliases VALUES('u00048636',1);
INSERT INTO aliases VALUES('u14827345',2);
INSERT INTO aliases VALUES('u95704295',3);
INSERT INTO aliases VALUES('u21912535',4);
INSERT INTO aliases VALUES('u05146262',5);
CREATE TABLE pow_challenges (
      challenge TEXT PRIMARY KEY,
      address TEXT NOT NULL,
      difficulty BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    );
CREATE TABLE used_challenges (nonce TEXT PRIMARY KEY, expires_at BIGINT NOT NULL);
INSERT INTO used_challenges VALUES('AaII7-pZZWYcaMSq9YiN1F_7GBN4GKOFDNo0zG-DuAE',1795446270553);
INSERT INTO used_challenges VALUES('AaII7-qp-n805SCmulvV93jFud0rEO0hQJQtJPokm3g',1795446270633);
INSERT INTO used_challenges VALUES('AaII7-rugVF2lD46ElQX7SLSUwqgR2qNpLVX8MlM2go',1795446270702);
INSERT INTO used_challenges VALUES('AaII7-spP8dFvGqoGrnJz9pt1TyzlUQ3PApcBXIKV10',1795446270761);
INSERT INTO used_challenges VALUES('AaII7-tRiWoyphjf-hVPYU0VHYhm5L_qea4gd8dT6TA',1795446270801);
CREATE TABLE tickets (
      ticket_hash TEXT PRIMARY KEY,
      account_id BIGINT NOT NULL,
      jti TEXT NOT NULL,
      token_expires_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    );
CREATE TABLE dead_tokens (jti TEXT PRIMARY KEY, reason TEXT NOT NULL, expires_at BIGINT NOT NULL);
CREATE TABLE relay_keys (
      kid TEXT PRIMARY KEY,
      purpose TEXT NOT NULL,
      secret BLOB NOT NULL,
      created_at BIGINT NOT NULL
    );
INSERT INTO relay_keys VALUES('Zr9bWmjLj5sa','challenge',X'8ba48e250f43ca3d734eb1d1bffebe846daa6b17fe6dc94c2b6eac770d6378d5',1795446210216);
INSERT INTO relay_keys VALUES('QW4KDZYeKL6Q','token',X'c7476113bc9215687d3a613079cc4fa3cc6714a5977fbbd0fa1eb8b499e3f801',1795446210219);
CREATE TABLE relay_state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE friendships (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      low_id BIGINT NOT NULL REFERENCES accounts (id),
      high_id BIGINT NOT NULL REFERENCES accounts (id),
      requester_id BIGINT NOT NULL,
      recipient_id BIGINT NOT NULL,
      status TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      changed_at BIGINT NOT NULL,
      UNIQUE (low_id, high_id)
    );
INSERT INTO friendships VALUES(1,1,2,1,2,'accepted',1795446210824,1795446210860);
INSERT INTO friendships VALUES(2,1,3,3,1,'pending',1795446211018,1795446211018);
CREATE TABLE blocks (
      blocker_id BIGINT NOT NULL REFERENCES accounts (id),
      blocked_id BIGINT NOT NULL REFERENCES accounts (id),
      created_at BIGINT NOT NULL,
      PRIMARY KEY (blocker_id, blocked_id)
    );
INSERT INTO blocks VALUES(1,4,1795446211032);
CREATE TABLE conversations (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      conv_id TEXT NOT NULL UNIQUE,
      low_id BIGINT NOT NULL,
      high_id BIGINT NOT NULL,
      is_open BIGINT NOT NULL,
      last_seq BIGINT NOT NULL,
      last_at BIGINT NOT NULL,
      UNIQUE (low_id, high_id)
    );
INSERT INTO conversations VALUES(1,'b80351ea-0265-41d1-b9b5-4df35b7a5b6c',1,2,1,6,1795446211005);
INSERT INTO conversations VALUES(2,'cf746b24-cc54-4315-a179-9fac82e7ada4',2,5,0,0,0);
CREATE TABLE lanes (
      conversation_id BIGINT NOT NULL,
      recipient_id BIGINT NOT NULL,
      sender_id BIGINT NOT NULL,
      pending_count BIGINT NOT NULL,
      pending_bytes BIGINT NOT NULL,
      delivered_seq BIGINT NOT NULL,
      read_seq BIGINT NOT NULL,
      told_delivered_seq BIGINT NOT NULL,
      told_read_seq BIGINT NOT NULL,
      PRIMARY KEY (conversation_id, recipient_id)
    ) WITHOUT ROWID;
INSERT INTO lanes VALUES(1,1,2,0,0,0,0,0,0);
INSERT INTO lanes VALUES(1,2,1,3,24,2,1,0,0);
INSERT INTO lanes VALUES(2,2,5,0,0,0,0,0,0);
INSERT INTO lanes VALUES(2,5,2,0,0,0,0,0,0);
CREATE TABLE mailboxes (
      account_id BIGINT PRIMARY KEY,
      last_position BIGINT NOT NULL,
      pending_count BIGINT NOT NULL,
      pending_bytes BIGINT NOT NULL
    );
INSERT INTO mailboxes VALUES(1,0,0,0);
INSERT INTO mailboxes VALUES(2,6,3,24);
INSERT INTO mailboxes VALUES(3,0,0,0);
INSERT INTO mailboxes VALUES(4,0,0,0);
INSERT INTO mailboxes VALUES(5,0,0,0);
CREATE TABLE messages (
      conversation_id BIGINT NOT NULL,
      recipient_id BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      position BIGINT NOT NULL,
      kind BIGINT NOT NULL,
      message_id TEXT NOT NULL,
      crypto_v BIGINT NOT NULL,
      payload TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (conversation_id, recipient_id, seq)
    ) WITHOUT ROWID;
INSERT INTO messages VALUES(1,2,3,3,0,'first',1,'Zmlyc3Q=',1795446210993);
INSERT INTO messages VALUES(1,2,4,4,0,'second',1,'c2Vjb25k',1795446210996);
INSERT INTO messages VALUES(1,2,5,5,0,'third',1,'dGhpcmQ=',1795446211000);
INSERT INTO messages VALUES(1,2,6,6,1,'taken-back',0,'',1795446211005);
CREATE TABLE sent_ids (
      sender_id BIGINT NOT NULL,
      message_id TEXT NOT NULL,
      conversation_id BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      at BIGINT NOT NULL,
      is_retracted BIGINT NOT NULL,
      PRIMARY KEY (sender_id, message_id)
    ) WITHOUT ROWID;
INSERT INTO sent_ids VALUES(1,'first',1,3,1795446210993,0);
INSERT INTO sent_ids VALUES(1,'read',1,1,1795446210935,0);
INSERT INTO sent_ids VALUES(1,'second',1,4,1795446210996,0);
INSERT INTO sent_ids VALUES(1,'taken-back',1,2,1795446210959,1);
INSERT INTO sent_ids VALUES(1,'third',1,5,1795446211000,0);
CREATE TABLE notices (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      account_id BIGINT NOT NULL,
      frame TEXT NOT NULL,
      created_at BIGINT NOT NULL
    );
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('accounts',5);
INSERT INTO sqlite_sequence VALUES('friendships',3);
INSERT INTO sqlite_sequence VALUES('conversations',2);
CREATE INDEX pow_challenges_by_address ON pow_challenges (address, expires_at);
CREATE INDEX pow_challenges_by_expiry ON pow_challenges (expires_at);
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at);
CREATE INDEX tickets_by_expiry ON tickets (expires_at);
CREATE INDEX dead_tokens_by_expiry ON dead_tokens (expires_at);
CREATE INDEX friendships_by_requester ON friendships (requester_id);
CREATE INDEX friendships_by_recipient ON friendships (recipient_id);
CREATE INDEX conversations_by_high ON conversations (high_id);
CREATE INDEX lanes_to_tell ON lanes (sender_id)
      WHERE told_delivered_seq < delivered_seq OR told_read_seq < read_seq;
CREATE INDEX lanes_pending ON lanes (conversation_id, recipient_id) WHERE pending_count > 0;
CREATE UNIQUE INDEX messages_by_position ON messages (recipient_id, position);
CREATE INDEX notices_by_account ON notices (account_id, id);
