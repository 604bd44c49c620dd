-- A text about a code for its owner (events/code-fields.ts). NULL without one, also because processes of the version before
-- write rows without this column.
ALTER TABLE codes ADD COLUMN note text;

-- The search of codes finds it (0014_code_search.sql).
DO $do$
BEGIN
  IF to_regclass('code_trigrams') IS NULL THEN
    -- An index of its own, which has only codes with a note: it is empty now, and building it reads the table once.
    CREATE INDEX codes_note_search ON codes USING gin (note gin_trgm_ops) WHERE note IS NOT NULL AND status <> 'deleted';
    RETURN;
  END IF;

  CREATE OR REPLACE FUNCTION keep_code_trigrams() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' OR NEW.status = 'deleted' THEN
      DELETE FROM code_trigrams WHERE code = OLD.id;
    ELSE
      INSERT INTO code_trigrams VALUES (
        NEW.id,
        trigrams_of(lower(concat_ws(E'\n', NEW.name, NEW.destination_url, NEW.short_code, NEW.note) COLLATE "default"))
      ) ON CONFLICT (code) DO UPDATE SET trigrams = excluded.trigrams;
    END IF;
    RETURN NULL;
  END $$;

  DROP TRIGGER codes_updated ON codes;
  CREATE TRIGGER codes_updated AFTER UPDATE ON codes FOR EACH ROW
    WHEN ((OLD.name, OLD.destination_url, OLD.short_code, OLD.status, OLD.note)
      IS DISTINCT FROM (NEW.name, NEW.destination_url, NEW.short_code, NEW.status, NEW.note))
    EXECUTE FUNCTION keep_code_trigrams();
END $do$;
