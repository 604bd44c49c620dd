-- IANA name of the time zone that rules of the account get if they name none, and that the console shows. NULL for UTC, also
-- because processes of the version before write rows without this column.
ALTER TABLE accounts ADD COLUMN timezone text;
