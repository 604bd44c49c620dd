-- Codes that `./scanlog import` has made of links of another service. NULL for all others, also because processes of the version
-- before write rows without these columns.
ALTER TABLE codes ADD COLUMN imported_at timestamptz;
ALTER TABLE codes ADD COLUMN imported_scans bigint;

-- Which link of which service became which code, so that a second import of the same links creates none of them again. Not in
-- the log, because nothing else depends on it.
CREATE TABLE imports (
  account   text COLLATE "C" NOT NULL,
  source    text COLLATE "C" NOT NULL,
  -- The short link there, without its scheme, or a hash of a row that has none.
  source_id text COLLATE "C" NOT NULL,
  code      text COLLATE "C" NOT NULL,
  PRIMARY KEY (account, source, source_id)
);
