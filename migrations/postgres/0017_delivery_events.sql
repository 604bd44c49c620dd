-- A delivery can report any event of the log, not only a scan. `type` is that of events/notification-types.ts.
--
-- Scans stay in the columns that they had, which instances of older versions read and write. Other events have their
-- time in `occurred_at` and their data in `data` (json, not jsonb, which would change the order of the fields), and NULL
-- in the columns of a scan: an instance that knows only scans fails to make a body of that, and leaves the delivery to
-- an instance that can.

ALTER TABLE webhook_deliveries
  ADD COLUMN type        text COLLATE "C" NOT NULL DEFAULT 'scan.created',
  ADD COLUMN occurred_at timestamptz,
  ADD COLUMN data        json,
  ALTER COLUMN scanned_at DROP NOT NULL,
  ALTER COLUMN country    DROP NOT NULL,
  ALTER COLUMN city       DROP NOT NULL,
  ALTER COLUMN device     DROP NOT NULL,
  ALTER COLUMN is_unique  DROP NOT NULL;
