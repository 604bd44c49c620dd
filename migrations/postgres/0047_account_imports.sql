-- Accounts that came from another instance (src/maintenance/portable/). `number` counts the moves of an account: the earlier ones
-- come with it, in the positions of the logs that it was in.
CREATE TABLE account_imports (
  account        text        COLLATE "C" NOT NULL,
  number         integer     NOT NULL,
  -- The checksum of the file.
  sha256         text        NOT NULL,
  -- The entries of the account are after this position, up to `to_position`, which is NULL until all of them are appended.
  after_position bigint      NOT NULL,
  to_position    bigint,
  -- How many entries of the file are appended.
  entries        bigint      NOT NULL DEFAULT 0,
  -- What opens cursors of the instance that the account came from: {"keys", "branch", "branches"}.
  cursors        jsonb       NOT NULL,
  started_at     timestamptz NOT NULL,
  -- NULL while the account is hidden.
  done_at        timestamptz,
  PRIMARY KEY (account, number)
);

-- Which position an entry got: those of `sources`, in the log that the account came from, got the positions from `position` on,
-- without a gap.
CREATE TABLE account_import_positions (
  account  text     COLLATE "C" NOT NULL,
  number   integer  NOT NULL,
  position bigint   NOT NULL,
  sources  bigint[] NOT NULL,
  PRIMARY KEY (account, number, position)
);
CREATE INDEX account_import_positions_source ON account_import_positions (account, number, (sources[1]));

-- An account that was erased here can come back from another instance. A transaction that names it in `scanlog.returning` may
-- delete what the erasure has left of its events, which have no data. Locks no table.

CREATE OR REPLACE FUNCTION refuse_change_of_the_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' OR coalesce(current_setting('scanlog.erasing', true), '') = ''
    AND NOT (TG_OP = 'DELETE' AND coalesce(current_setting('scanlog.dropping', true), '') = 'true')
    AND NOT (TG_OP = 'DELETE' AND TG_RELID <> 'events'::regclass
      AND coalesce(current_setting('scanlog.archiving', true), '') = 'true')
    AND NOT (TG_OP = 'DELETE' AND TG_RELID = 'events'::regclass
      AND coalesce(current_setting('scanlog.returning', true), '') <> '')
  THEN
    RAISE EXCEPTION 'the log is only ever appended to';
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION is_erased(of_stream text, of_schema smallint, of_type text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT (of_schema = 0 OR of_type IN ('account_deleted', 'code_erased'))
    AND EXISTS (
      SELECT FROM erasures WHERE account = current_setting('scanlog.returning', true) AND done_at IS NOT NULL
        AND (account = of_stream OR EXISTS (
          SELECT FROM codes c WHERE c.id = of_stream AND c.account = erasures.account AND c.status = 'deleted'
        ))
    )
$$;

CREATE OR REPLACE FUNCTION refuse_all_but_erasure_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  erasing text := coalesce(current_setting('scanlog.erasing', true), '');
BEGIN
  IF TG_OP = 'DELETE' AND is_erased(OLD.stream, OLD.schema, OLD.type) THEN
    RETURN OLD;
  END IF;
  IF TG_OP = 'UPDATE' AND is_being_erased(erasing)
    AND (OLD.stream = erasing OR EXISTS (SELECT FROM codes WHERE id = OLD.stream AND account = erasing))
    AND OLD.type NOT IN ('account_deleted', 'code_erased')
    AND NEW.schema = 0 AND NEW.data = '{}'
    AND (NEW.position, NEW.id, NEW.stream, NEW.version, NEW.type, NEW.actor, NEW.occurred_at)
      = (OLD.position, OLD.id, OLD.stream, OLD.version, OLD.type, OLD.actor, OLD.occurred_at)
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the log is only ever appended to';
END
$$;
