-- What the service needs to remember that is no fact about a code or an account, so it is not in the log.

-- When a key was last used, written at most once a minute for each key.
CREATE TABLE key_usage (
  key          text        COLLATE "C" PRIMARY KEY,
  last_used_at timestamptz NOT NULL
);

-- Requests in the current window of 60 s, one row an account and mode, or a client without a key (by a keyed hash of
-- its address). Unlogged: a crash may forget it, and counting costs no flush to disk.
CREATE UNLOGGED TABLE rate_windows (
  subject    text        COLLATE "C" PRIMARY KEY,
  started_at timestamptz NOT NULL,
  used       integer     NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX rate_windows_started_at ON rate_windows (started_at);

-- First answers, kept for 24 h, so that a repeated request does nothing twice.
CREATE TABLE idempotency_keys (
  account      text        COLLATE "C" NOT NULL,
  mode         text        NOT NULL,
  key          text        COLLATE "C" NOT NULL,
  request_hash text        COLLATE "C" NOT NULL,
  status       smallint,
  body         text,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (account, mode, key)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- Secrets that all instances share. 244 random bits each.
CREATE TABLE secrets (
  name  text  PRIMARY KEY,
  value bytea NOT NULL
);
INSERT INTO secrets VALUES ('client_address', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
