-- People. Names, addresses and credentials are in these tables only, never in the log, whose events name `usr_…`.
CREATE TABLE users (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  email text NOT NULL,
  email_confirmed_at timestamptz,
  -- argon2id; null for people who sign in with something else.
  password_hash text,
  is_operator boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  last_signed_in_at timestamptz,
  disabled_at timestamptz
);
CREATE UNIQUE INDEX users_email ON users (lower(email));

-- Projection of the members' events in the streams of accounts.
CREATE TABLE members (
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  role text NOT NULL,
  joined_at timestamptz NOT NULL,
  PRIMARY KEY (account, user_id)
);
CREATE INDEX members_user_id ON members (user_id);

-- A session belongs to a person or has keys. A person's session acts in both modes.
ALTER TABLE console_sessions
  ADD COLUMN user_id text COLLATE "C",
  DROP CONSTRAINT console_sessions_check,
  ADD CONSTRAINT console_sessions_check CHECK (live_key IS NOT NULL OR test_key IS NOT NULL OR user_id IS NOT NULL);
CREATE INDEX console_sessions_user_id ON console_sessions (user_id) WHERE user_id IS NOT NULL;
