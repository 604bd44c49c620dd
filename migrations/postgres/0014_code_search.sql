-- Finds codes by any part of their name, destination or short code. With pg_trgm, where it is installed or can be created,
-- an index of trigrams answers ILIKE by itself. Otherwise a table has the trigrams of each code, and src/codes/search.ts
-- asks it first; it can name too many codes, never too few.
DO $do$
BEGIN
  BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
  EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE 'pg_trgm is not available (%): codes are searched through the table code_trigrams', SQLERRM;
  END;

  IF EXISTS (SELECT FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid)) THEN
    CREATE INDEX codes_search ON codes
      USING gin (name gin_trgm_ops, destination_url gin_trgm_ops, short_code gin_trgm_ops) WHERE status <> 'deleted';
    RETURN;
  END IF;

  CREATE TABLE code_trigrams (
    code     text   COLLATE "C" PRIMARY KEY,
    trigrams text[] COLLATE "C" NOT NULL
  );

  CREATE FUNCTION trigrams_of(words text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
  BEGIN
    RETURN ARRAY(SELECT DISTINCT substr(words, i, 3) FROM generate_series(1, length(words) - 2) AS i);
  END $$;

  CREATE FUNCTION keep_code_trigrams() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' OR NEW.status = 'deleted' THEN
      DELETE FROM code_trigrams WHERE code = OLD.id;
    ELSE
      INSERT INTO code_trigrams VALUES (
        NEW.id, trigrams_of(lower((NEW.name || E'\n' || NEW.destination_url || E'\n' || NEW.short_code) COLLATE "default"))
      ) ON CONFLICT (code) DO UPDATE SET trigrams = excluded.trigrams;
    END IF;
    RETURN NULL;
  END $$;

  CREATE TRIGGER codes_inserted AFTER INSERT OR DELETE ON codes
    FOR EACH ROW EXECUTE FUNCTION keep_code_trigrams();
  CREATE TRIGGER codes_updated AFTER UPDATE ON codes FOR EACH ROW
    WHEN ((OLD.name, OLD.destination_url, OLD.short_code, OLD.status)
      IS DISTINCT FROM (NEW.name, NEW.destination_url, NEW.short_code, NEW.status))
    EXECUTE FUNCTION keep_code_trigrams();

  INSERT INTO code_trigrams
  SELECT id, trigrams_of(lower((name || E'\n' || destination_url || E'\n' || short_code) COLLATE "default"))
  FROM codes WHERE status <> 'deleted';
  CREATE INDEX code_trigrams_search ON code_trigrams USING gin (trigrams);
END $do$;

-- The planner decides by these statistics whether a word is rare enough for the index.
ANALYZE codes;
