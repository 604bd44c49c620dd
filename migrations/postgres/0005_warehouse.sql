-- The tables of the warehouse (ClickHouse), of which one is read; another is filled beside it during a replay. What
-- stands in them is made from the log by projections/analytics.ts, and this says how far: ClickHouse takes part in no
-- transaction of ours, so every step is announced here before it is done and confirmed after it. Whoever finds a step
-- announced and not confirmed does the very same again, which ClickHouse recognises by its token.

CREATE TABLE warehouse_tables (
  -- scans_v<version> in ClickHouse.
  version       integer PRIMARY KEY,
  -- The number of the file in migrations/clickhouse that it was made from.
  definition    integer NOT NULL,
  -- Whether it is read, and kept current.
  in_use        boolean NOT NULL DEFAULT false,
  -- Scans up to here are in it, and an insert of those up to `inserting_to` is under way.
  position      bigint  NOT NULL,
  inserting_to  bigint,
  -- Scans of codes that were deleted up to here have left it, and those up to `removing_to` are about to.
  removed_to    bigint  NOT NULL,
  removing_to   bigint,
  removing_rows bigint,
  -- How many rows it has when nothing is under way. One that has another number was lost, or restored from a backup.
  rows          bigint  NOT NULL
);
CREATE UNIQUE INDEX one_warehouse_table_in_use ON warehouse_tables (in_use) WHERE in_use;

-- Which codes were deleted since some position: their scans leave the warehouse, and count nowhere until they have.
CREATE INDEX events_deletions ON events (position) WHERE type = 'code_deleted';
