-- Whether pages for guests show the name of the account, and which logo: {"logo": null or its id}. NULL if they do not, also
-- because processes of the version before write rows without this column.
ALTER TABLE accounts ADD COLUMN guest_page jsonb;

-- The tags of a code as its owner writes them, in the order of `tags`, which has them in lower case, to compare. NULL if all of
-- them are in lower case.
ALTER TABLE codes ADD COLUMN tag_names text[] COLLATE "C";
