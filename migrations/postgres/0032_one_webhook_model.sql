-- One model for all webhooks: that of /v1/account/webhook is a subscription with another body. A webhook is identified by
-- (account, webhook). `webhook` is its id; that of an account's webhook is its mode, because its events have no id.
--
-- No row of a delivery is rewritten. Tables get new names, and instances of the version before find views under the old
-- ones, with the columns that they know. Postgres passes their writes on to the tables; the triggers below add what
-- they do not write. Views and triggers can go when no such instance runs any more.

ALTER TABLE webhook_subscriptions RENAME TO subscriptions;
ALTER TABLE webhook_endpoints RENAME TO endpoints;
ALTER TABLE webhook_deliveries RENAME TO deliveries;
ALTER TABLE webhook_delivery_counts RENAME TO delivery_counts;
ALTER TABLE webhook_secrets RENAME TO endpoint_secrets;
ALTER TABLE webhook_tests RENAME TO endpoint_tests;
ALTER TABLE webhook_replays RENAME TO endpoint_replays;

ALTER TABLE subscriptions RENAME COLUMN id TO webhook;
ALTER TABLE endpoints RENAME COLUMN mode TO webhook;
ALTER TABLE deliveries RENAME COLUMN mode TO webhook;
ALTER TABLE delivery_counts RENAME COLUMN mode TO webhook;
ALTER TABLE endpoint_secrets RENAME COLUMN mode TO webhook;
ALTER TABLE endpoint_tests RENAME COLUMN mode TO webhook;
ALTER TABLE endpoint_replays RENAME COLUMN mode TO webhook;

-- Current state of all webhooks, made from the log by projections/state.ts.
ALTER TABLE subscriptions
  DROP CONSTRAINT webhook_subscriptions_pkey,
  ADD PRIMARY KEY (account, webhook),
  -- `contract`: {event, timestamp, data}; `event`: {type, timestamp, data}.
  ADD COLUMN body text NOT NULL DEFAULT 'event';
INSERT INTO subscriptions
  (account, webhook, mode, body, url, description, events, status, reason, since, created_at, updated_at)
SELECT account, mode, mode, 'contract', url, '', '{scan.created}', status, reason, since, created_at, since FROM webhooks;
DROP TABLE webhooks;

-- Mode, body and filters of every webhook, as of the projection's checkpoint.
UPDATE endpoints SET
  filter = CASE WHEN filter IS NULL
    THEN jsonb_build_object('mode', webhook, 'body', 'contract', 'events', '["scan.created"]'::jsonb, 'qr_ids', NULL, 'tags', NULL)
    ELSE filter || '{"body": "event"}' END,
  -- A webhook that is deleted never comes back, one that is removed can be set again.
  stopped_by = CASE WHEN filter IS NOT NULL AND stopped_by = 'removed' THEN 'deleted' ELSE stopped_by END;
ALTER TABLE endpoints ALTER COLUMN filter SET NOT NULL;

-- Waits for its first attempt by a replay: sent while no other delivery of the webhook is due.
ALTER TABLE deliveries ADD COLUMN low_priority boolean NOT NULL DEFAULT false;
CREATE INDEX deliveries_low_priority ON deliveries (account, webhook, generation, due_at, id)
  WHERE status = 'pending' AND low_priority;

-- The position was moved back, and the projection has not restarted since then (projections/webhooks.ts).
ALTER TABLE checkpoints ADD COLUMN is_rewound boolean NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION count_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO delivery_counts AS c
    SELECT account, webhook, status, count(*) FROM now_there GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (account, webhook, status) DO UPDATE SET deliveries = c.deliveries + excluded.deliveries;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO delivery_counts AS c
    SELECT account, webhook, status, -count(*) FROM there_before GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (account, webhook, status) DO UPDATE SET deliveries = c.deliveries + excluded.deliveries;
  ELSE
    INSERT INTO delivery_counts AS c
    SELECT account, webhook, status, sum(n) FROM (
      SELECT account, webhook, status, 1 AS n FROM now_there
      UNION ALL
      SELECT account, webhook, status, -1 FROM there_before
    ) AS changes
    GROUP BY 1, 2, 3 HAVING sum(n) <> 0 ORDER BY 1, 2, 3
    ON CONFLICT (account, webhook, status) DO UPDATE SET deliveries = c.deliveries + excluded.deliveries;
  END IF;
  RETURN NULL;
END
$$;

-- What instances of the version before write.

-- A subscription without `webhook` comes through the view of /v1/account/webhook.
CREATE FUNCTION complete_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.webhook := NEW.mode;
  NEW.body := 'contract';
  NEW.events := '{scan.created}';
  NEW.description := '';
  NEW.updated_at := NEW.since;
  RETURN NEW;
END
$$;
CREATE TRIGGER subscriptions_of_old_instances BEFORE INSERT ON subscriptions
  FOR EACH ROW WHEN (NEW.webhook IS NULL) EXECUTE FUNCTION complete_subscription();

-- They write no filter for an account's webhook, and no body for the others.
CREATE FUNCTION complete_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.filter := CASE WHEN NEW.filter IS NULL
    THEN jsonb_build_object('mode', NEW.webhook, 'body', 'contract', 'events', '["scan.created"]'::jsonb, 'qr_ids', NULL, 'tags', NULL)
    ELSE NEW.filter || '{"body": "event"}' END;
  RETURN NEW;
END
$$;
CREATE TRIGGER endpoints_of_old_instances BEFORE INSERT OR UPDATE OF filter ON endpoints
  FOR EACH ROW WHEN (NEW.filter IS NULL OR NOT NEW.filter ? 'body') EXECUTE FUNCTION complete_endpoint();

-- They store -1 - generation for deliveries of a replay, and -1 - position for a checkpoint that was moved back.
CREATE FUNCTION complete_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.generation := -1 - NEW.generation;
  NEW.low_priority := true;
  RETURN NEW;
END
$$;
CREATE TRIGGER deliveries_of_old_instances BEFORE INSERT OR UPDATE ON deliveries
  FOR EACH ROW WHEN (NEW.generation < 0) EXECUTE FUNCTION complete_delivery();
UPDATE deliveries SET due_at = due_at WHERE status = 'pending' AND generation < 0;

CREATE FUNCTION complete_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.position := -1 - NEW.position;
  NEW.is_rewound := true;
  RETURN NEW;
END
$$;
CREATE TRIGGER checkpoints_of_old_instances BEFORE UPDATE ON checkpoints
  FOR EACH ROW WHEN (NEW.projection = 'webhooks' AND NEW.position < 0) EXECUTE FUNCTION complete_checkpoint();
UPDATE checkpoints SET position = position WHERE projection = 'webhooks' AND position < 0;

CREATE VIEW webhooks AS
  SELECT account, mode, url, status, reason, since, created_at FROM subscriptions WHERE body = 'contract';
CREATE VIEW webhook_subscriptions AS
  SELECT webhook AS id, account, mode, url, description, events, qr_ids, tags, status, reason, since, created_at, updated_at
  FROM subscriptions WHERE body = 'event';
CREATE VIEW webhook_endpoints AS
  SELECT account, webhook AS mode, is_set, is_paid, generation, stopped_by, dropping, due_at, lease, lease_until,
    failing_since, filter, replaying
  FROM endpoints;
CREATE VIEW webhook_deliveries AS
  SELECT id, account, webhook AS mode, code, scanned_at, country, city, device, is_unique, generation, status, due_at, tries,
    attempts, error, created_at, finished_at, type, occurred_at, data, replay
  FROM deliveries;
CREATE VIEW webhook_delivery_counts AS SELECT account, webhook AS mode, status, deliveries FROM delivery_counts;
CREATE VIEW webhook_secrets AS
  SELECT account, webhook AS mode, current, previous, previous_until FROM endpoint_secrets;
CREATE VIEW webhook_tests AS SELECT id, account, webhook AS mode, granted, until FROM endpoint_tests;
CREATE VIEW webhook_replays AS
  SELECT id, account, webhook AS mode, generation, choice, from_time, to_time, selection, to_position, counted_to, selected_to,
    status, total, selected, outstanding, delivered, failed, paused_until, created_at, ended_at
  FROM endpoint_replays;
