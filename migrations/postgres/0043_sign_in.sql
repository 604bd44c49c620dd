-- What people sign in with besides a password. Rows are deleted together with their person (src/people/credentials.ts).

-- Who a person is at an OpenID provider.
CREATE TABLE user_identities (
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE UNIQUE INDEX user_identities_user_id ON user_identities (user_id, issuer);

CREATE TABLE user_totp (
  user_id text COLLATE "C" PRIMARY KEY,
  -- Encrypted with SECRET_KEY.
  secret text NOT NULL,
  created_at timestamptz NOT NULL,
  -- Null until the person has entered a first code: no sign-in asks for one before.
  confirmed_at timestamptz,
  -- The time step of the last code that was accepted, in 30 s since 1970: each code is accepted once.
  last_step bigint NOT NULL DEFAULT 0,
  -- Wrong codes since then, for at most an hour.
  failures int NOT NULL DEFAULT 0,
  failures_since timestamptz
);

CREATE TABLE user_recovery_codes (
  user_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (user_id, hash)
);

CREATE TABLE user_passkeys (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL,
  -- The identifier that the authenticator gave it.
  credential text COLLATE "C" NOT NULL UNIQUE,
  name text NOT NULL,
  public_key bytea NOT NULL,
  -- How often it was used, as its authenticator counts; 0 for those that do not count.
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX user_passkeys_user_id ON user_passkeys (user_id);

-- Steps of sign-ins that were completed: none can be completed twice (src/people/steps.ts).
CREATE TABLE completed_steps (
  hash text COLLATE "C" PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX completed_steps_expires_at ON completed_steps (expires_at);

-- What opened a person's session: 'password', 'passkey', 'oidc' or 'link'.
ALTER TABLE console_sessions ADD COLUMN signed_in_by text;
