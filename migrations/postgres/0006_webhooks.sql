-- Webhooks. What an account has set is current state, made from the log by projections/state.ts.

CREATE TABLE webhooks (
  account    text        COLLATE "C" NOT NULL,
  mode       text        COLLATE "C" NOT NULL,
  url        text        NOT NULL,
  status     text        NOT NULL,
  reason     text,
  since      timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account, mode)
);

-- Signing secrets, encrypted with SECRET_KEY. They are in no event, like the keys of visitors: they are destroyed with
-- the webhook, and could be encrypted anew under another key.
CREATE TABLE webhook_secrets (
  account        text        COLLATE "C" NOT NULL,
  mode           text        COLLATE "C" NOT NULL,
  current        text        NOT NULL,
  previous       text,
  -- Until then the secret before the last rotation signs too.
  previous_until timestamptz,
  PRIMARY KEY (account, mode)
);

-- Deliveries, made from the stream by projections/webhooks.ts and sent by src/webhooks/. Whoever locks rows of several
-- of these tables does so in this order: endpoints, deliveries, counts.

-- One row for each webhook that ever was: whose turn it is, in one row however many deliveries wait.
CREATE TABLE webhook_endpoints (
  account       text        COLLATE "C" NOT NULL,
  mode          text        COLLATE "C" NOT NULL,
  -- As of the projection's checkpoint.
  is_set        boolean     NOT NULL,
  is_paid       boolean     NOT NULL,
  -- Counts how often it stopped. A delivery carries the number it was made under: what waited then is never sent.
  generation    integer     NOT NULL DEFAULT 0,
  stopped_by    text,
  -- Whether deliveries of older generations may still wait to be marked as failed.
  dropping      boolean     NOT NULL DEFAULT false,
  -- When the first of its waiting deliveries is due; as far as known without looking at them.
  due_at        timestamptz,
  -- The worker that sends for it, alone. By the clock of the database, which all workers share.
  lease         text        COLLATE "C",
  lease_until   timestamptz,
  failing_since timestamptz,
  PRIMARY KEY (account, mode)
) WITH (fillfactor = 50);
CREATE INDEX webhook_endpoints_due ON webhook_endpoints (due_at) WHERE is_set AND is_paid;
CREATE INDEX webhook_endpoints_dropping ON webhook_endpoints (account, mode) WHERE dropping;
CREATE INDEX webhook_endpoints_lease ON webhook_endpoints (lease) WHERE lease IS NOT NULL;

CREATE TABLE webhook_deliveries (
  -- That of the scan with another prefix, so a scan can have only one.
  id          text        COLLATE "C" NOT NULL,
  account     text        COLLATE "C" NOT NULL,
  mode        text        COLLATE "C" NOT NULL,
  code        text        COLLATE "C" NOT NULL,
  scanned_at  timestamptz NOT NULL,
  country     text        NOT NULL,
  city        text        NOT NULL,
  device      text        NOT NULL,
  is_unique   boolean     NOT NULL,
  generation  integer     NOT NULL,
  status      text        NOT NULL DEFAULT 'pending',
  due_at      timestamptz NOT NULL,
  -- Attempts since it was made or sent again by hand.
  tries       smallint    NOT NULL DEFAULT 0,
  -- Every attempt, oldest first: at, ms, status, answer, error.
  attempts    jsonb       NOT NULL DEFAULT '[]',
  error       text,
  created_at  timestamptz NOT NULL,
  finished_at timestamptz,
  -- Every delivery writes to each index twice, so there are few. This one also gives lists their order.
  PRIMARY KEY (account, mode, id)
);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (account, mode, generation, due_at, id)
  WHERE status = 'pending';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (account, mode, id) WHERE status = 'failed';
CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (status, finished_at) WHERE finished_at IS NOT NULL;

-- How many deliveries an account has in each status: the totals of lists, without counting rows.
CREATE TABLE webhook_delivery_counts (
  account    text   COLLATE "C" NOT NULL,
  mode       text   COLLATE "C" NOT NULL,
  status     text   COLLATE "C" NOT NULL,
  deliveries bigint NOT NULL,
  PRIMARY KEY (account, mode, status)
) WITH (fillfactor = 50);

CREATE FUNCTION count_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO webhook_delivery_counts AS c
    SELECT account, mode, status, count(*) FROM now_there GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (account, mode, status) DO UPDATE SET deliveries = c.deliveries + excluded.deliveries;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO webhook_delivery_counts AS c
    SELECT account, mode, status, -count(*) FROM there_before GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (account, mode, status) DO UPDATE SET deliveries = c.deliveries + excluded.deliveries;
  ELSE
    INSERT INTO webhook_delivery_counts AS c
    SELECT account, mode, status, sum(n) FROM (
      SELECT account, mode, status, 1 AS n FROM now_there
      UNION ALL
      SELECT account, mode, status, -1 FROM there_before
    ) AS changes
    GROUP BY 1, 2, 3 HAVING sum(n) <> 0 ORDER BY 1, 2, 3
    ON CONFLICT (account, mode, status) DO UPDATE SET deliveries = c.deliveries + excluded.deliveries;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER webhook_deliveries_made AFTER INSERT ON webhook_deliveries
  REFERENCING NEW TABLE AS now_there FOR EACH STATEMENT EXECUTE FUNCTION count_webhook_deliveries();
CREATE TRIGGER webhook_deliveries_changed AFTER UPDATE ON webhook_deliveries
  REFERENCING OLD TABLE AS there_before NEW TABLE AS now_there
  FOR EACH STATEMENT EXECUTE FUNCTION count_webhook_deliveries();
CREATE TRIGGER webhook_deliveries_pruned AFTER DELETE ON webhook_deliveries
  REFERENCING OLD TABLE AS there_before FOR EACH STATEMENT EXECUTE FUNCTION count_webhook_deliveries();

-- Scans from before there were webhooks are nobody's to be told of.
INSERT INTO checkpoints
SELECT 'webhooks', greatest((SELECT max(position) FROM scans), (SELECT max(position) FROM events), 0);
