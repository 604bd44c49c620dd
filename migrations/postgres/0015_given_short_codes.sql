-- Given short codes are unique without regard to case, and the edge finds them in any case. Generated ones are not: seven
-- random characters that differ only in case are two codes.

-- Whether the owner chose the short code. NULL for codes of earlier versions, which did not record it.
ALTER TABLE codes ADD COLUMN short_code_given boolean;

-- The form in which a given short code is compared, or NULL for a generated one. The rule for codes of earlier versions is
-- that of isGiven in events/short-code.ts: seven base58 characters count as generated, unless they are one plain word.
-- Not in SQL: the planner would inline it, take it for cheap, and scan the table for 1,000 short codes instead of the index.
CREATE FUNCTION folded_given_code(short_code text, given boolean) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF coalesce(given,
    short_code COLLATE "C" !~ '^[1-9A-HJ-NP-Za-km-z]{7}$' OR short_code COLLATE "C" ~ '^([A-Z]?[a-z]+|[A-Z]+)$')
  THEN
    RETURN lower(short_code COLLATE "C");
  END IF;
  RETURN NULL;
END $$;

-- Not unique: codes of earlier versions may differ only in case. src/codes/create.ts checks new ones under the append lock.
CREATE INDEX codes_given_short_code ON codes (folded_given_code(short_code, short_code_given))
  WHERE folded_given_code(short_code, short_code_given) IS NOT NULL;

-- The planner needs statistics of the new expression.
ANALYZE codes;
