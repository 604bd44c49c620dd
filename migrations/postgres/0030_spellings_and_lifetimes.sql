-- The canonical form of a host that an earlier version has stored: canonicalHost in events/hosts.ts. Earlier versions left IPv4
-- addresses inside IPv6 ones, and dots at the end.
CREATE FUNCTION canonical_host(host text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN host ~ '^\[(::ffff|64:ff9b:):[0-9a-f]{1,4}:[0-9a-f]{1,4}\]$' THEN
      substr(host(('::ffff:' || substring(host FROM '([0-9a-f]+:[0-9a-f]+)\]$'))::inet), 8)
    ELSE rtrim(host, '.')
  END
$$;

WITH stored AS (DELETE FROM blocked_hosts WHERE host <> canonical_host(host) RETURNING *)
INSERT INTO blocked_hosts SELECT canonical_host(host), min(blocked_at) FROM stored GROUP BY 1
ON CONFLICT (host) DO UPDATE SET blocked_at = least(blocked_hosts.blocked_at, excluded.blocked_at);

-- Counts the short codes that an account has chosen in the last 30 days, deleted codes included. Changes of codes wait while it
-- is built, seconds for a million codes.
CREATE INDEX codes_given_by_time ON codes (account, mode, created_at) WHERE short_code_given;

-- When the keys of a session were given, the oldest of them: 90 days later it ends, however often it is used. A session that was
-- opened by the link of another has the time of the other.
ALTER TABLE console_sessions ADD COLUMN proven_at timestamptz NOT NULL DEFAULT now();
UPDATE console_sessions SET proven_at = created_at, ends_at = least(ends_at, created_at + interval '90 days');
