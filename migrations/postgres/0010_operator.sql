-- What the operator of the service has disabled. All of it is current state, made from events with the actor "operator".

-- A suspended account's keys and sessions answer 403, and its short links 410.
ALTER TABLE accounts ADD COLUMN suspended_reason text, ADD COLUMN suspended_at timestamptz;

-- A code that was taken down answers 410. Its owner sees why, and cannot undo it.
ALTER TABLE codes ADD COLUMN disabled_reason text, ADD COLUMN disabled_at timestamptz;

-- Hosts that no code may lead to, each with its subdomains: lower case, as URLs spell them (punycode), without a dot at
-- the end.
CREATE TABLE blocked_hosts (
  host       text        COLLATE "C" PRIMARY KEY,
  blocked_at timestamptz NOT NULL
);
