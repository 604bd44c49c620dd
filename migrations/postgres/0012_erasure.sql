-- Accounts that the operator has deleted, and how far their data has left the database (src/stream/erasure.ts). A row is
-- written in the transaction that appends account_deleted, and stays: a scan that waited in a spool can arrive later.

CREATE TABLE erasures (
  account      text        COLLATE "C" PRIMARY KEY,
  requested_at timestamptz NOT NULL,
  -- The last code_deleted of its codes: scans leave the log after the warehouse has removed them up to here.
  ended_to     bigint      NOT NULL DEFAULT 0,
  -- The last event that the erasure has appended: scans leave the log after the projections have applied it.
  appended_to  bigint      NOT NULL DEFAULT 0,
  -- Scans of the account up to here have left the log.
  scans_to     bigint      NOT NULL,
  done_at      timestamptz
);

-- The log stays append-only, except that a transaction which names a deleted account in `scanlog.erasing` may empty the
-- data of that account's events, and delete its scans. The trigger of the statement refuses everything else at once, that
-- of the row looks at what is changed; it holds for statements on a single partition, too.

CREATE OR REPLACE FUNCTION refuse_change_of_the_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' OR coalesce(current_setting('scanlog.erasing', true), '') = '' THEN
    RAISE EXCEPTION 'the log is only ever appended to';
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION is_being_erased(account text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(current_setting('scanlog.erasing', true), '') = account
    AND EXISTS (SELECT FROM events WHERE stream = account AND type = 'account_deleted')
$$;

CREATE FUNCTION refuse_all_but_erasure_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  erasing text := coalesce(current_setting('scanlog.erasing', true), '');
BEGIN
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

CREATE FUNCTION refuse_all_but_erasure_of_scans() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND is_being_erased(OLD.account) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the log is only ever appended to';
END
$$;

CREATE TRIGGER events_are_only_erased BEFORE UPDATE OR DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasure_of_events();
CREATE TRIGGER scans_are_only_erased BEFORE UPDATE OR DELETE ON scans
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasure_of_scans();
