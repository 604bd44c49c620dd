-- Whether pages for guests show the name of the account, and which logo: {"logo": null or its id}. NULL if they do not, also
-- because processes of the version before write rows without this column.
ALTER TABLE accounts ADD COLUMN guest_page jsonb;
