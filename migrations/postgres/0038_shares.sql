-- Public pages of statistics, made from the log by projections/state.ts like all current state. A share that has ended has no row.
CREATE TABLE shares (
  id            text        COLLATE "C" PRIMARY KEY,
  account       text        COLLATE "C" NOT NULL,
  mode          text        NOT NULL,
  name          text        NOT NULL,
  -- The codes by their ids, or by tags in lower case: one of the two.
  codes         text[]      COLLATE "C",
  tags          text[]      COLLATE "C",
  has_password  boolean     NOT NULL,
  expires_at    timestamptz,
  bots          text        NOT NULL,
  frame_origins text[]      COLLATE "C" NOT NULL,
  created_at    timestamptz NOT NULL
);
CREATE INDEX shares_of_owner ON shares (account, mode, id);

-- What opens the pages, beside the log: events carry neither. A rebuild of current state does not touch it. The token is kept, not
-- only its hash, so that the owner can copy the link again: who can read this table can read what the pages show.
CREATE TABLE share_secrets (
  share         text  COLLATE "C" PRIMARY KEY,
  account       text  COLLATE "C" NOT NULL,
  token         text  COLLATE "C" NOT NULL,
  -- SHA-256 in hex, by which a page is found.
  token_hash    text  COLLATE "C" NOT NULL UNIQUE,
  -- Argon2id; NULL without a password.
  password_hash text
);
