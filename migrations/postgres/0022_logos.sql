-- Logos of accounts, made from the log by projections/state.ts like all current state. Formats and sizes are those of the
-- uploaded pictures.
CREATE TABLE logos (
  id         text        COLLATE "C" PRIMARY KEY,
  account    text        COLLATE "C" NOT NULL,
  mode       text        NOT NULL,
  hash       text        COLLATE "C" NOT NULL,
  format     text        NOT NULL,
  width      integer     NOT NULL,
  height     integer     NOT NULL,
  bytes      integer     NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX logos_of_owner ON logos (account, mode, id);

-- The pictures themselves, by the SHA-256 of their content, beside the log: events carry only their hash. A rebuild of
-- current state does not touch them. A row lives as long as a logo of its account has the hash.
CREATE TABLE logo_files (
  account text  COLLATE "C" NOT NULL,
  hash    text  COLLATE "C" NOT NULL,
  -- image/png, or application/json for paths (src/codes/logo-files.ts).
  type    text  NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (account, hash)
);
-- PNG is compressed already.
ALTER TABLE logo_files ALTER COLUMN content SET STORAGE EXTERNAL;

-- Which codes have a logo: asked before it is deleted.
CREATE INDEX codes_with_logo ON codes ((style -> 'logo' ->> 'id')) WHERE style ? 'logo' AND status <> 'deleted';
