-- Where an entry of the log comes from: written only while traces are on, and only for sampled requests. The relay and the
-- sender of webhooks, often in another process, continue the trace from here. Unlogged, because a trace may be lost; rows
-- are deleted after a day.
CREATE UNLOGGED TABLE trace_contexts (
  -- The id of the entry without its prefix, so that the id of its webhook delivery finds it, too.
  entry       text        COLLATE "C" PRIMARY KEY,
  account     text        COLLATE "C" NOT NULL,
  -- As in the W3C header of this name.
  traceparent text        NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX trace_contexts_by_age ON trace_contexts (created_at);
