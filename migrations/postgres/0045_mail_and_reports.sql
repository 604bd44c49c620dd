-- Mails that wait to be sent, and what became of those of the last 90 days. Addresses and contents are personal data: both are here only,
-- never in the log, and the content is deleted with the last attempt. A backup leaves mails out, so that a restore sends none.
CREATE TABLE mails (
  id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Names the cause: a second mail with the same key is not queued.
  key        text        COLLATE "C" NOT NULL UNIQUE,
  -- NULL for mails of the service itself.
  account    text        COLLATE "C",
  recipient  text        NOT NULL,
  subject    text        NOT NULL,
  -- NULL after the last attempt.
  plain_text text,
  html       text,
  headers    jsonb       NOT NULL,
  bytes      integer     NOT NULL,
  -- waiting, sent, refused (for good, by the mail server) or expired (refused for now until it was too old).
  status     text        NOT NULL DEFAULT 'waiting',
  attempts   integer     NOT NULL DEFAULT 0,
  -- When the next attempt begins; of a mail that is being sent, when another process may try it.
  due_at     timestamptz,
  created_at timestamptz NOT NULL,
  ended_at   timestamptz,
  -- The answer of the mail server to the last attempt that failed.
  error      text
);
CREATE INDEX mails_due ON mails (due_at) WHERE status = 'waiting';
CREATE INDEX mails_of_account ON mails (account, ended_at);
CREATE INDEX mails_ended ON mails (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE mail_attachments (
  mail    bigint  NOT NULL REFERENCES mails ON DELETE CASCADE,
  number  integer NOT NULL,
  name    text    NOT NULL,
  type    text    NOT NULL,
  content bytea   NOT NULL,
  PRIMARY KEY (mail, number)
);

-- Reports, made from the log by projections/state.ts like all current state. A report that was removed has no row.
CREATE TABLE reports (
  id         text        COLLATE "C" PRIMARY KEY,
  account    text        COLLATE "C" NOT NULL,
  mode       text        NOT NULL,
  name       text        NOT NULL,
  every      text        NOT NULL,
  timezone   text        NOT NULL,
  format     text        NOT NULL,
  -- The codes by their ids, or by tags in lower case: one of the two.
  codes      text[]      COLLATE "C",
  tags       text[]      COLLATE "C",
  recipients integer     NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX reports_of_owner ON reports (account, mode, id);

-- Beside the log: which period of a report is mailed next, and when. A rebuild of current state does not touch it.
CREATE TABLE report_schedules (
  report  text        COLLATE "C" PRIMARY KEY,
  account text        COLLATE "C" NOT NULL,
  -- The first day of the period, such as 2026-11-09.
  period  text        COLLATE "C" NOT NULL,
  due_at  timestamptz NOT NULL,
  -- When the last one was put into the outbox.
  sent_at timestamptz
);
CREATE INDEX report_schedules_due ON report_schedules (due_at);

-- Whom reports are mailed to. Events carry their number only. An address that has unsubscribed stays, so that adding it again does not
-- subscribe it again.
CREATE TABLE report_recipients (
  -- Part of the link by which the recipient unsubscribes without signing in.
  token           text        COLLATE "C" PRIMARY KEY,
  report          text        COLLATE "C" NOT NULL,
  account         text        COLLATE "C" NOT NULL,
  email           text        NOT NULL,
  -- The order in which the owner gave them; NULL for one that the owner has removed and that had unsubscribed.
  number          integer,
  unsubscribed_at timestamptz
);
CREATE UNIQUE INDEX report_recipients_email ON report_recipients (report, lower(email));
CREATE INDEX report_recipients_account ON report_recipients (account);
