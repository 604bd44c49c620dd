-- Answers kept for an Idempotency-Key that are longer than a page: deflated (src/api/idempotency.ts). `body` is NULL
-- then. Rows from before, and short answers, have them in `body`.
ALTER TABLE idempotency_keys ADD COLUMN deflated_body bytea;

-- Example events that POST /v1/account/webhook/test is sending, or waits to send. Each counts as one of the 8 requests
-- that a webhook may have in flight over all instances: the worker that sends for the webhook leaves room for it and
-- then sets `granted` (src/webhooks/tests.ts). A row of a process that died ends by its time.
CREATE TABLE webhook_tests (
  id      text        COLLATE "C" PRIMARY KEY,
  account text        COLLATE "C" NOT NULL,
  mode    text        COLLATE "C" NOT NULL,
  granted boolean     NOT NULL DEFAULT false,
  until   timestamptz NOT NULL
);
CREATE INDEX webhook_tests_endpoint ON webhook_tests (account, mode);
