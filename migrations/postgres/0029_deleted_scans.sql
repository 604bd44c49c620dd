-- For each scan that an erasure or the retention deletes, the trigger asked by a query whether it may: most of the time that the
-- deletion took. Now it is asked once for each transaction, as for the archive. Locks no table.

CREATE OR REPLACE FUNCTION is_being_erased(account text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF account IS DISTINCT FROM nullif(current_setting('scanlog.erasing', true), '') THEN
    RETURN false;
  END IF;
  IF account IS DISTINCT FROM current_setting('scanlog.erasable', true) THEN
    IF NOT EXISTS (SELECT FROM events WHERE stream = account AND type = 'account_deleted') THEN
      RETURN false;
    END IF;
    PERFORM set_config('scanlog.erasable', account, true);
  END IF;
  RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION is_being_dropped(of_position bigint, of_time timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  dropped_to bigint := nullif(current_setting('scanlog.dropped_to', true), '');
BEGIN
  IF coalesce(current_setting('scanlog.dropping', true), '') <> 'true' THEN
    RETURN false;
  END IF;
  IF dropped_to IS NULL THEN
    SELECT up_to INTO dropped_to FROM scan_retention WHERE done_at IS NULL;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    PERFORM set_config('scanlog.dropped_to', dropped_to::text, true),
      set_config('scanlog.dropped_before', before::text, true) FROM scan_retention;
  END IF;
  RETURN of_position <= dropped_to AND of_time < current_setting('scanlog.dropped_before')::timestamptz;
END
$$;

CREATE OR REPLACE FUNCTION refuse_all_but_erasure_of_scans() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND (
    is_being_erased(OLD.account) OR is_being_archived(OLD.position) OR is_being_dropped(OLD.position, OLD.occurred_at)
  ) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the log is only ever appended to';
END
$$;
