-- Current state, made from the log by projections/state.ts in the transaction that appends, and made again by
-- `./scanlog replay state`. Nothing else writes here.

CREATE TABLE accounts (
  id         text        COLLATE "C" PRIMARY KEY,
  name       text        NOT NULL,
  plan       text        NOT NULL,
  created_at timestamptz NOT NULL,
  version    integer     NOT NULL
);

CREATE TABLE api_keys (
  id         text        COLLATE "C" PRIMARY KEY,
  account    text        COLLATE "C" NOT NULL,
  name       text        NOT NULL,
  mode       text        NOT NULL,
  hash       text        COLLATE "C" NOT NULL UNIQUE,
  last4      text        NOT NULL,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX api_keys_account ON api_keys (account, id);

-- A deleted code keeps its row: its short code is never given to anybody else, and its short link says 410.
CREATE TABLE codes (
  id                   text        COLLATE "C" PRIMARY KEY,
  account              text        COLLATE "C" NOT NULL,
  mode                 text        NOT NULL,
  name                 text        NOT NULL,
  destination_url      text        NOT NULL,
  destination_revision integer     NOT NULL,
  short_code           text        COLLATE "C" NOT NULL,
  status               text        NOT NULL,
  style                jsonb       NOT NULL,
  created_at           timestamptz NOT NULL,
  updated_at           timestamptz NOT NULL,
  version              integer     NOT NULL,
  position             bigint      NOT NULL,
  CONSTRAINT codes_short_code UNIQUE (short_code)
);
CREATE INDEX codes_newest_first ON codes (account, mode, position DESC) WHERE status <> 'deleted';
CREATE INDEX codes_of_status ON codes (account, mode, status, position DESC);

-- How many codes an account has: quotas and the totals of lists, without counting rows.
CREATE TABLE code_counts (
  account text    COLLATE "C" NOT NULL,
  mode    text    NOT NULL,
  status  text    NOT NULL,
  codes   integer NOT NULL,
  PRIMARY KEY (account, mode, status)
);
