-- Where an account has entries in the log, for readers of one account: the event feed and replays of webhooks. scans has no
-- index by account, and an append should not pay for one, so src/log/account-index.ts fills this after the log has a block of
-- 65,536 positions.
CREATE TABLE account_blocks (
  account text    COLLATE "C" NOT NULL,
  mode    text    COLLATE "C" NOT NULL,
  -- That of the positions block * 65536 + 1 to (block + 1) * 65536.
  block   integer NOT NULL,
  -- Two bytes for each entry, in log order: position - 1 - block * 65536 - 32768, big-endian. NULL if there are so many that
  -- reading the whole block is faster.
  scans   bytea,
  changes bytea,
  PRIMARY KEY (account, mode, block)
);

-- The blocks that are in the table above: all of them up to the last. Not a checkpoint, because a backup has checkpoints, and
-- has neither of these tables.
CREATE TABLE indexed_blocks (
  block     integer     PRIMARY KEY,
  -- The time of its latest entry; NULL without entries.
  latest    timestamptz,
  -- False once the retention has removed its scans, and their lists are removed from the table above.
  has_scans boolean     NOT NULL DEFAULT true
);

-- It named only the blocks in which an account has entries. No release has it.
DROP TABLE log_blocks;
DELETE FROM checkpoints WHERE projection = 'log_blocks';
