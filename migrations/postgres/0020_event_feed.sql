-- The event feed of an account (src/feed/) reads the log in order. scans has no index by account, and an append should not
-- pay for one, so this says in which blocks of 65,536 positions an account has entries. projections/log-blocks.ts writes it
-- behind the end of the log; a row too many costs a read, a row too few would lose events.
CREATE TABLE log_blocks (
  account     text    COLLATE "C" NOT NULL,
  mode        text    COLLATE "C" NOT NULL,
  -- That of the positions block * 65536 + 1 to (block + 1) * 65536.
  block       integer NOT NULL,
  has_scans   boolean NOT NULL,
  has_changes boolean NOT NULL,
  PRIMARY KEY (account, mode, block)
);

-- Every restore of a backup, and the last position that the log had in common with the log that was backed up: a cursor of
-- the feed that was issued before the restore can be ahead of it.
CREATE TABLE log_branches (
  branch integer PRIMARY KEY,
  after  bigint  NOT NULL
);

-- Encrypts the cursors of the feed. Not derived from SECRET_KEY: cursors stay valid when that is replaced.
INSERT INTO secrets VALUES ('event_cursor', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
ON CONFLICT DO NOTHING;

-- Takedowns of codes are in the audit log of their account. They are few, in streams of codes, which are many.
CREATE INDEX events_takedowns ON events (position) WHERE type IN ('code_disabled', 'code_enabled');
