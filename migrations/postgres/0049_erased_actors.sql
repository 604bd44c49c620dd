-- The actor of an event can end with the name that a program gave itself: `key_…/claude-code`. The erasure of an account removes
-- that name, which the trigger allows from now on. Locks no table.

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
    AND NEW.actor IN (OLD.actor, split_part(OLD.actor, '/', 1))
    AND (NEW.position, NEW.id, NEW.stream, NEW.version, NEW.type, NEW.occurred_at)
      = (OLD.position, OLD.id, OLD.stream, OLD.version, OLD.type, OLD.occurred_at)
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the log is only ever appended to';
END
$$;

-- Accounts that were erased before.
DO $$
DECLARE
  erased text;
BEGIN
  FOR erased IN SELECT account FROM erasures WHERE done_at IS NOT NULL LOOP
    PERFORM set_config('scanlog.erasing', erased, true);
    UPDATE events SET actor = split_part(actor, '/', 1)
    WHERE (stream = erased OR stream IN (SELECT id FROM codes WHERE account = erased)) AND schema = 0 AND actor LIKE '%/%';
  END LOOP;
  PERFORM set_config('scanlog.erasing', '', true);
END
$$;
