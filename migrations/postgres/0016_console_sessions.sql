-- Console sessions that can be listed and ended one by one, and that slide on a device of one's own. Every column has a
-- default: instances of the version before insert without them.

ALTER TABLE console_sessions
  ADD COLUMN id            text        COLLATE "C" NOT NULL DEFAULT 'sess_' || replace(gen_random_uuid()::text, '-', ''),
  -- Such as "iPhone" and "Safari", derived from the user agent, which is not stored.
  ADD COLUMN device        text        NOT NULL DEFAULT 'Unknown device',
  ADD COLUMN browser       text        NOT NULL DEFAULT 'Unknown browser',
  -- Every use moves ends_at.
  ADD COLUMN is_own_device boolean     NOT NULL DEFAULT false,
  ADD COLUMN created_at    timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN last_used_at  timestamptz NOT NULL DEFAULT now(),
  -- Set with ends_at when another session of the account ended this one. The row stays, to say so.
  ADD COLUMN ended_at      timestamptz;
CREATE UNIQUE INDEX console_sessions_account ON console_sessions (account, id);

-- Links that sign in another device, once. A link has the keys of the session that made it, and is void when that
-- session ends. Only a hash of its token is stored.
CREATE TABLE console_sign_in_links (
  hash       text        COLLATE "C" PRIMARY KEY,
  account    text        COLLATE "C" NOT NULL,
  -- The hash of the session's token.
  session    text        COLLATE "C" NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX console_sign_in_links_expires_at ON console_sign_in_links (expires_at);
