-- Files that hold the oldest scans of the log (src/maintenance/archive.ts). They cover every position from 1 to the highest
-- `to_position` without a gap. A scan is either in `scans` or in one of these files: it moves in one transaction. A file
-- never changes: another version of it gets another location.
CREATE TABLE archives (
  -- Both inclusive.
  from_position bigint      PRIMARY KEY,
  to_position   bigint      NOT NULL UNIQUE,
  scans         bigint      NOT NULL,
  -- Times of the earliest and the latest scan; NULL if there is none.
  earliest      timestamptz,
  latest        timestamptz,
  bytes         bigint      NOT NULL,
  -- Of the whole file, in hex.
  sha256        text        NOT NULL,
  -- An absolute path, or s3://bucket/key.
  location      text        NOT NULL UNIQUE,
  -- The version of the file's format (src/archive/format.ts).
  format        integer     NOT NULL,
  archived_at   timestamptz NOT NULL,
  CHECK (from_position <= to_position)
);

-- How many scans of a code are in these files, written in the transaction that moves them; like dropped_scans.
CREATE TABLE archived_scans (
  code            text   COLLATE "C" PRIMARY KEY,
  total_scans     bigint NOT NULL,
  unique_scans    bigint NOT NULL,
  uncounted_scans bigint NOT NULL
);

-- Files that are being written, or that `archives` no longer names. The next run deletes those that `archives` does not name.
CREATE TABLE archive_leftovers (
  location text        PRIMARY KEY,
  since    timestamptz NOT NULL
);

-- The log's triggers now also let a transaction that sets `scanlog.archiving` delete scans whose positions are in a file.

CREATE OR REPLACE FUNCTION refuse_change_of_the_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' OR coalesce(current_setting('scanlog.erasing', true), '') = ''
    AND NOT (TG_OP = 'DELETE' AND coalesce(current_setting('scanlog.dropping', true), '') = 'true')
    AND NOT (TG_OP = 'DELETE' AND TG_RELID <> 'events'::regclass
      AND coalesce(current_setting('scanlog.archiving', true), '') = 'true')
  THEN
    RAISE EXCEPTION 'the log is only ever appended to';
  END IF;
  RETURN NULL;
END
$$;

-- The end of the archive is read once for each transaction: a query for each of millions of scans would take most of the time.
CREATE FUNCTION is_being_archived(of_position bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  archived_to bigint := nullif(current_setting('scanlog.archived_to', true), '');
BEGIN
  IF coalesce(current_setting('scanlog.archiving', true), '') <> 'true' THEN
    RETURN false;
  END IF;
  IF archived_to IS NULL THEN
    SELECT coalesce(max(to_position), 0) INTO archived_to FROM archives;
    PERFORM set_config('scanlog.archived_to', archived_to::text, true);
  END IF;
  RETURN of_position <= archived_to;
END
$$;

CREATE OR REPLACE FUNCTION refuse_all_but_erasure_of_scans() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND (
    is_being_archived(OLD.position) OR is_being_dropped(OLD.position, OLD.occurred_at) OR is_being_erased(OLD.account)
  ) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the log is only ever appended to';
END
$$;

-- Names this log in the files that it writes. Not a secret; why it is in this table: src/log/branch.ts.
INSERT INTO secrets VALUES ('instance', uuid_send(gen_random_uuid())) ON CONFLICT DO NOTHING;
