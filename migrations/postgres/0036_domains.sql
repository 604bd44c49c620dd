-- Custom domains of accounts: a claim is a row, and a removed one keeps it. A code on a domain has the name of the domain and
-- a slash before its short code in `codes.short_code`: see events/link.ts.
CREATE TABLE domains (
  id            text        COLLATE "C" PRIMARY KEY,
  account       text        COLLATE "C" NOT NULL,
  name          text        COLLATE "C" NOT NULL,
  status        text        NOT NULL,
  token         text        NOT NULL,
  root_url      text,
  not_found_url text,
  expired_url   text,
  app_links     jsonb,
  created_at    timestamptz NOT NULL,
  verified_at   timestamptz,
  removed_at    timestamptz
);
CREATE INDEX domains_account ON domains (account, id);
CREATE INDEX domains_name ON domains (name);
-- Several accounts may claim a name; one of them can prove it.
CREATE UNIQUE INDEX domains_serving ON domains (name) WHERE status IN ('active', 'failing');

-- The domain that the console suggests for new codes; NULL for none.
ALTER TABLE accounts ADD COLUMN primary_domain text COLLATE "C";

-- The last check of the proof of each domain. Not in the log, because only its outcome changes anything.
CREATE TABLE domain_checks (
  domain     text        COLLATE "C" PRIMARY KEY,
  account    text        COLLATE "C" NOT NULL,
  checked_at timestamptz,
  -- [{"check", "expected", "found"}]
  problems   jsonb       NOT NULL DEFAULT '[]',
  -- NULL if it is not checked by itself any more.
  next_at    timestamptz
);
CREATE INDEX domain_checks_due ON domain_checks (next_at) WHERE next_at IS NOT NULL;

-- The names of domains that have codes, also of those that were removed: their links answer 404 and never lead to the codes of
-- the service that have the same short codes.
CREATE INDEX codes_domain ON codes ((split_part(short_code, '/', 1))) WHERE strpos(short_code, '/') > 0;
