-- Scans older than SCAN_RETENTION_MONTHS leave the log and the warehouse (src/stream/retention.ts), in runs. This is the
-- run under way, or the last one; the event scans_dropped of each run stays in the log.
CREATE TABLE scan_retention (
  only_row   boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
  run        integer     NOT NULL,
  -- Scans of before this time leave, up to the position that was the end of the log when the run started.
  before     timestamptz NOT NULL,
  up_to      bigint      NOT NULL,
  -- Up to here they have left the log; how many.
  done_to    bigint      NOT NULL,
  scans      bigint      NOT NULL,
  -- Whether the run was ended early, at `done_to`, because the setting had become longer or was removed.
  cut_short  boolean     NOT NULL,
  started_at timestamptz NOT NULL,
  done_at    timestamptz
);

-- How many scans of a code have left the log, written in the transaction in which they leave: its totals are these and the
-- scans that are in the log.
CREATE TABLE dropped_scans (
  code         text   COLLATE "C" PRIMARY KEY,
  total_scans  bigint NOT NULL,
  unique_scans bigint NOT NULL
);

-- Scans of the runs up to `dropped_run` have left this table. Those of `dropping_run` are about to: `removing_rows` of them,
-- from before `dropping_before`, up to position `dropping_to`. Never at the same time as a removal of deleted codes.
ALTER TABLE warehouse_tables
  ADD COLUMN dropped_run     integer NOT NULL DEFAULT 0,
  ADD COLUMN dropping_run    integer,
  ADD COLUMN dropping_before timestamptz,
  ADD COLUMN dropping_to     bigint;

-- The log's triggers now also let a transaction that sets `scanlog.dropping` delete scans of the run under way.

CREATE OR REPLACE FUNCTION refuse_change_of_the_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' OR coalesce(current_setting('scanlog.erasing', true), '') = ''
    AND NOT (TG_OP = 'DELETE' AND coalesce(current_setting('scanlog.dropping', true), '') = 'true')
  THEN
    RAISE EXCEPTION 'the log is only ever appended to';
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION is_being_dropped(of_position bigint, of_time timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(current_setting('scanlog.dropping', true), '') = 'true'
    AND EXISTS (SELECT FROM scan_retention WHERE done_at IS NULL AND of_position <= up_to AND of_time < before)
$$;

CREATE OR REPLACE FUNCTION refuse_all_but_erasure_of_scans() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND (is_being_dropped(OLD.position, OLD.occurred_at) OR is_being_erased(OLD.account)) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the log is only ever appended to';
END
$$;
