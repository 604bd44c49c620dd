-- What operators did, newest first: decisions that only operators make, and what commands did to accounts. src/operator/audit.ts has
-- the same condition. Events are the changes of codes and accounts: scans are in another table, so the index is built in a moment.
CREATE INDEX events_of_operators ON events (position) WHERE type IN (
  'plan_changed', 'account_suspended', 'account_resumed', 'account_deleted', 'code_disabled', 'code_enabled',
  'destination_blocked', 'destination_unblocked', 'user_disabled', 'user_enabled', 'operator_set', 'reset_link_created'
) OR actor = 'operator' AND type IN (
  'account_created', 'account_renamed', 'key_created', 'key_rotated', 'key_revoked', 'member_joined', 'member_role_set',
  'member_removed', 'invitation_created'
);

-- The processes of the service, each of which writes its own row every few seconds.
CREATE TABLE instances (
  id         text        COLLATE "C" PRIMARY KEY,
  host       text        NOT NULL,
  pid        integer     NOT NULL,
  version    text        NOT NULL,
  roles      text[]      NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at    timestamptz NOT NULL,
  -- Of the edge: scans on disk that are not in the log yet, and the disk that they are on. NULL without the role.
  spool_bytes bigint,
  spool_seconds double precision,
  disk_free  bigint,
  disk_size  bigint
);

-- Files that ./scanlog backup has written, the newest ones.
CREATE TABLE backups (
  finished_at timestamptz PRIMARY KEY,
  position    bigint      NOT NULL,
  rows        bigint      NOT NULL
);
