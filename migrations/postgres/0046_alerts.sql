-- Alerts and what they have raised, made from the log by projections/state.ts like all current state. A deleted alert has no row.
CREATE TABLE alerts (
  id         text        COLLATE "C" PRIMARY KEY,
  account    text        COLLATE "C" NOT NULL,
  mode       text        NOT NULL,
  kind       text        NOT NULL,
  name       text        NOT NULL,
  -- The codes by their ids, or by tags in lower case; both are NULL for all codes.
  codes      text[]      COLLATE "C",
  tags       text[]      COLLATE "C",
  percent    integer     NOT NULL,
  active     boolean     NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX alerts_of_owner ON alerts (account, mode, id);

-- What is raised and not over. `subject` is the id of a code or domain, or the name of a limit.
CREATE TABLE raised_alerts (
  alert     text        COLLATE "C" NOT NULL,
  subject   text        COLLATE "C" NOT NULL,
  account   text        COLLATE "C" NOT NULL,
  mode      text        NOT NULL,
  code      text        COLLATE "C",
  domain    text        COLLATE "C",
  title     text        NOT NULL,
  message   text        NOT NULL,
  link      text        NOT NULL,
  raised_at timestamptz NOT NULL,
  PRIMARY KEY (alert, subject)
);
CREATE INDEX raised_alerts_of_owner ON raised_alerts (account, mode, raised_at);

-- Whom an alert is mailed to. Addresses are personal data, so they are here and not in the log; a rebuild does not touch them.
CREATE TABLE alert_recipients (
  alert   text   COLLATE "C" PRIMARY KEY,
  account text   COLLATE "C" NOT NULL,
  emails  text[] NOT NULL
);

-- When each alert is checked next. Not in the log, because only what a check finds changes anything.
CREATE TABLE alert_checks (
  alert   text        COLLATE "C" PRIMARY KEY,
  account text        COLLATE "C" NOT NULL,
  next_at timestamptz NOT NULL
);
CREATE INDEX alert_checks_due ON alert_checks (next_at);

-- The URLs that codes of an account lead to, each once for all its alerts, and the result of their last checks.
CREATE TABLE destination_checks (
  account       text        COLLATE "C" NOT NULL,
  -- SHA-256 of the URL, which may be too long for an index.
  hash          bytea       NOT NULL,
  url           text        NOT NULL,
  next_at       timestamptz NOT NULL,
  -- An alert has asked for it until this time; afterwards the row is removed.
  wanted_until  timestamptz NOT NULL,
  -- Checks that have failed one after the other, and when the first of them did.
  failures      integer     NOT NULL DEFAULT 0,
  failing_since timestamptz,
  -- Why the last check has failed, for the owner; NULL if it has not.
  problem       text,
  PRIMARY KEY (account, hash)
);
CREATE INDEX destination_checks_due ON destination_checks (next_at);
CREATE INDEX destination_checks_unwanted ON destination_checks (wanted_until);
