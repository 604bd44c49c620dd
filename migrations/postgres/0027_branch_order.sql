-- Restores in the order in which they happened: two of them can begin at the same position. Null for those before this
-- migration, which are the oldest.
ALTER TABLE log_branches ADD COLUMN number integer;
