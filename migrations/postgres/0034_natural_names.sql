-- The order of names as people count: "Table 2" before "Table 10", and letters with accents beside those without. A Postgres
-- that was built without ICU sorts by code points, as before. No index uses the collation, so that another version of ICU
-- needs no rebuild.
DO $$
BEGIN
  CREATE COLLATION natural_names (provider = icu, locale = 'und-u-kn-true');
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
  CREATE COLLATION natural_names (provider = libc, locale = 'C');
END
$$;
