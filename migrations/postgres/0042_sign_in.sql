ALTER TABLE console_sessions
  -- The last time at which a password, a key or another proof was given; null for `proven_at`.
  ADD COLUMN last_proof_at timestamptz,
  -- Whether the person had never signed in on the device before.
  ADD COLUMN is_new_device boolean NOT NULL DEFAULT false;

-- Invitations that are neither accepted nor revoked. Their addresses are here only, never in the log.
CREATE TABLE invitations (
  id text COLLATE "C" PRIMARY KEY,
  account text COLLATE "C" NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  invited_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX invitations_account ON invitations (account, id);

-- Links that work once: set-up of the first user, invitations, new passwords. The token itself is only in the link.
CREATE TABLE one_time_links (
  hash text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL,
  user_id text COLLATE "C",
  account text COLLATE "C",
  invitation text COLLATE "C",
  -- The address that a new person confirms by it.
  email text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX one_time_links_expires_at ON one_time_links (expires_at);
CREATE INDEX one_time_links_user_id ON one_time_links (user_id) WHERE user_id IS NOT NULL;
