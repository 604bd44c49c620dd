-- One table for the recipients of reports and alerts: both unsubscribe by the same kind of link. A rebuild of current state does not
-- touch it.
ALTER TABLE report_recipients RENAME TO mail_recipients;
-- The id of a report or alert.
ALTER TABLE mail_recipients RENAME COLUMN report TO subject;
ALTER INDEX report_recipients_pkey RENAME TO mail_recipients_pkey;
ALTER INDEX report_recipients_email RENAME TO mail_recipients_email;
ALTER INDEX report_recipients_account RENAME TO mail_recipients_account;

-- Those of alerts had no links: 52 hexadecimal digits, of which 196 bits are random.
INSERT INTO mail_recipients (token, subject, account, email, number)
SELECT left(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 52), alert, account, email, number - 1
FROM alert_recipients, unnest(emails) WITH ORDINALITY AS given (email, number)
ON CONFLICT DO NOTHING;
DROP TABLE alert_recipients;

-- The language of what is mailed. Reports and alerts of before are in English.
ALTER TABLE reports ADD COLUMN language text NOT NULL DEFAULT 'en';
ALTER TABLE alerts ADD COLUMN language text NOT NULL DEFAULT 'en';
