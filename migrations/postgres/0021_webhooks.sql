-- Several webhooks for each mode of an account, and replays.
--
-- The tables of endpoints, deliveries, secrets, counts and tests are keyed by account and `mode`, from when a mode had one
-- webhook. That one, of /v1/account/webhook, keeps its key. Any other webhook has its id (`wh_…`) in `mode`
-- (events/endpoint.ts). So the same statements serve both, and instances of the version before work beside this one: they
-- find no URL for such a key, and leave the endpoint to an instance that does.

-- The webhooks of /v1/webhooks: current state, made from the log by projections/state.ts.
CREATE TABLE webhook_subscriptions (
  id          text        COLLATE "C" PRIMARY KEY,
  account     text        COLLATE "C" NOT NULL,
  mode        text        COLLATE "C" NOT NULL,
  url         text        NOT NULL,
  description text        NOT NULL,
  -- Public types of events (events/public-types.ts).
  events      text[]      COLLATE "C" NOT NULL,
  -- Only events of these codes, and of codes with any of these tags; NULL for no such filter.
  qr_ids      text[]      COLLATE "C",
  tags        text[]      COLLATE "C",
  status      text        NOT NULL,
  reason      text,
  since       timestamptz NOT NULL,
  created_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL
);
CREATE INDEX webhook_subscriptions_owner ON webhook_subscriptions (account, mode);

ALTER TABLE webhook_endpoints
  -- The mode and filters of a subscription, as of the projection's checkpoint; NULL for the webhook of /v1/account/webhook.
  ADD COLUMN filter    jsonb,
  -- Whether a replay may have deliveries that wait. Their generation is -1 - that of the endpoint, so that they are read
  -- after all others and only by instances that know of replays.
  ADD COLUMN replaying boolean NOT NULL DEFAULT false;

-- The replay that made the delivery; NULL if the event was delivered when it happened.
ALTER TABLE webhook_deliveries ADD COLUMN replay text COLLATE "C";

-- Any process runs the next step of a replay (src/webhooks/replay-steps.ts).
CREATE TABLE webhook_replays (
  id           text        COLLATE "C" PRIMARY KEY,
  account      text        COLLATE "C" NOT NULL,
  -- The key of the endpoint, as above.
  mode         text        COLLATE "C" NOT NULL,
  generation   integer     NOT NULL,
  choice       text        NOT NULL,
  from_time    timestamptz NOT NULL,
  to_time      timestamptz NOT NULL,
  -- Mode, filters, and when the webhook was on, as of the start.
  selection    jsonb       NOT NULL,
  -- The part of the log to read; counted and selected up to here.
  to_position  bigint      NOT NULL,
  counted_to   bigint      NOT NULL,
  selected_to  bigint      NOT NULL,
  status       text        NOT NULL DEFAULT 'running',
  total        bigint      NOT NULL DEFAULT 0,
  selected     bigint      NOT NULL DEFAULT 0,
  -- Deliveries that wait for their first attempt of this replay; never many.
  outstanding  text[]      COLLATE "C" NOT NULL DEFAULT '{}',
  delivered    bigint      NOT NULL DEFAULT 0,
  failed       bigint      NOT NULL DEFAULT 0,
  -- While the receiver fails, no more deliveries are selected before this time.
  paused_until timestamptz,
  created_at   timestamptz NOT NULL,
  ended_at     timestamptz
);
CREATE UNIQUE INDEX webhook_replays_running ON webhook_replays (account, mode) WHERE status = 'running';
CREATE INDEX webhook_replays_endpoint ON webhook_replays (account, mode, id);

-- At the time `at`, the log had reached at least `position`: no event up to it can have happened later. Lets a replay of the
-- last hours skip the log of the years before.
CREATE TABLE log_times (
  at       timestamptz PRIMARY KEY,
  position bigint      NOT NULL
);

-- The tags of a code after the event at a position: those that its next change replaced, or those of now.
CREATE FUNCTION code_tags_at(of_code text, of_position bigint) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN later.data IS NULL THEN c.tags ELSE ARRAY(
    SELECT jsonb_array_elements_text(CASE jsonb_typeof(later.data -> 'from') WHEN 'array' THEN later.data -> 'from' ELSE '[]' END)
  ) END
  FROM codes c LEFT JOIN LATERAL (
    SELECT e.data FROM events e
    WHERE e.stream = c.id AND e.type = 'tags_changed' AND e.position > of_position ORDER BY e.version LIMIT 1
  ) AS later ON true
  WHERE c.id = of_code
$$;
