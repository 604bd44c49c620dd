-- What decides where a scan of a code leads besides its destination (events/targeting.ts). All of it is optional and NULL
-- for a code without it, also because processes of the version before write rows without these columns.
ALTER TABLE codes
  ADD COLUMN rules            jsonb,
  ADD COLUMN starts_at        timestamptz,
  ADD COLUMN expires_at       timestamptz,
  ADD COLUMN max_scans        integer,
  ADD COLUMN limit_reached_at timestamptz,
  ADD COLUMN fallback_url     text,
  ADD COLUMN forward_query    boolean,
  ADD COLUMN utm              jsonb,
  -- Lower case, each once.
  ADD COLUMN tags             text[] COLLATE "C";

CREATE INDEX codes_tagged ON codes (account, mode, position DESC) WHERE tags IS NOT NULL AND status <> 'deleted';

-- How many redirects of a code with max_scans count against it: those to destinations that are not by bots. Written in the
-- statement that appends the scan (src/log/append-limited-scans.ts), so that all instances together never exceed the limit.
CREATE TABLE limited_scans (
  code text   COLLATE "C" PRIMARY KEY,
  used bigint NOT NULL
) WITH (fillfactor = 50);

-- The rule and the variant of its split that led a scan to where it went; NULL if it took none. The fallback has an id, too
-- (events/guide.ts).
ALTER TABLE scans
  ADD COLUMN rule    text COLLATE "C",
  ADD COLUMN variant text COLLATE "C";

-- Those of total_scans that do not count against max_scans: by bots, or to the fallback. Scans that were counted before this
-- migration count all, until `./scanlog replay state` counts again.
ALTER TABLE scan_counts ADD COLUMN uncounted_scans bigint NOT NULL DEFAULT 0;
ALTER TABLE dropped_scans ADD COLUMN uncounted_scans bigint NOT NULL DEFAULT 0;
