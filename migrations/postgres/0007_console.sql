-- Who is signed in to the console. Only a hash of a session's token is kept: reading this table lets nobody in.
-- A session holds one key of each mode at most, all of one account. It lasts no longer than they do: whoever looks it up
-- looks whether they are revoked.

CREATE TABLE console_sessions (
  hash     text        COLLATE "C" PRIMARY KEY,
  account  text        COLLATE "C" NOT NULL,
  live_key text        COLLATE "C",
  test_key text        COLLATE "C",
  ends_at  timestamptz NOT NULL,
  CHECK (live_key IS NOT NULL OR test_key IS NOT NULL)
);
CREATE INDEX console_sessions_ends_at ON console_sessions (ends_at);
