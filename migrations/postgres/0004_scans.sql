-- Scans are events too, in the same total order: they draw their positions from the same sequence under the same lock.
-- They have a table of their own, with a column a field: there are thousands of times more of them than of all other
-- events, they have no versions to compare, and ranges of old positions can be detached as a whole.

CREATE TABLE scans (
  position    bigint      NOT NULL,
  id          text        COLLATE "C" NOT NULL,
  code        text        COLLATE "C" NOT NULL,
  account     text        COLLATE "C" NOT NULL,
  mode        text        NOT NULL,
  occurred_at timestamptz NOT NULL,
  country     text        NOT NULL,
  region      text        NOT NULL,
  city        text        NOT NULL,
  device      text        NOT NULL,
  browser     text        NOT NULL,
  is_bot      boolean     NOT NULL,
  -- A keyed hash of 16 bytes, see visitor_keys; uuid is Postgres' type for 16 bytes.
  visitor     uuid        NOT NULL,
  is_unique   boolean     NOT NULL,
  -- Which destination of the code it led to.
  revision    integer     NOT NULL,
  PRIMARY KEY (position)
) PARTITION BY RANGE (position);

-- The next ranges are made long before they are needed (src/log/partitions.ts).
CREATE TABLE scans_0 PARTITION OF scans FOR VALUES FROM (0) TO (20000000);
CREATE TABLE scans_1 PARTITION OF scans FOR VALUES FROM (20000000) TO (40000000);

CREATE TRIGGER scans_are_facts BEFORE UPDATE OR DELETE OR TRUNCATE ON scans
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_the_log();

-- The last batch of each writer. A writer numbers its batches and sends them in order; one that is not newer than the
-- last was stored before, its answer lost, and is dropped. So a batch may be sent any number of times.
CREATE TABLE scan_writers (
  writer     text        COLLATE "C" PRIMARY KEY,
  batch      bigint      NOT NULL,
  written_at timestamptz NOT NULL
);

-- Who has scanned a code: decides what a unique scan is, in the transaction that appends it. Every scan looks here, so
-- the key is short: a hash of the code's id, which only keeps a code's visitors together; they are hashed under the
-- code's own key, so no two codes share one.
CREATE TABLE visitors (
  code_hash bigint NOT NULL,
  visitor   uuid   NOT NULL,
  PRIMARY KEY (code_hash, visitor)
);

-- The key under which a code's visitors are hashed. Not in the log, and destroyed with the code: then nobody can find
-- out any more, not even by trying all addresses, who the visitors in the log were.
CREATE TABLE visitor_keys (
  code text  COLLATE "C" PRIMARY KEY,
  key  bytea NOT NULL
);
INSERT INTO visitor_keys
  SELECT id, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) FROM codes WHERE status <> 'deleted';

-- How often a code was scanned, made from the stream by projections/counters.ts.
CREATE TABLE scan_counts (
  code         text   COLLATE "C" PRIMARY KEY,
  total_scans  bigint NOT NULL,
  unique_scans bigint NOT NULL
) WITH (fillfactor = 70);

-- How far each projection that follows the stream has come, written together with its effect.
CREATE TABLE checkpoints (
  projection text   PRIMARY KEY,
  position   bigint NOT NULL
);
