-- The erasure of an account and the retention remove scans from archive files: a file is replaced by one without them, or a
-- range without scans needs no file at all (src/maintenance/rewrite-file.ts).

-- NULL if none of the positions has a scan any more; `bytes` is then 0.
ALTER TABLE archives ALTER COLUMN location DROP NOT NULL;
ALTER TABLE archives ADD CHECK (location IS NOT NULL OR scans = 0);

-- Files that nothing names any more, until they are deleted. `archive_leftovers` has those that are being written, or whose
-- writer was killed.
CREATE TABLE archive_deletions (
  location    text        PRIMARY KEY,
  since       timestamptz NOT NULL,
  -- Whether the catalogue has named it, so that the file exists.
  is_replaced boolean     NOT NULL
);

-- Scans of the account have left the archive files up to here. They leave the table `scans` first.
ALTER TABLE erasures ADD COLUMN archive_to bigint NOT NULL DEFAULT 0;
