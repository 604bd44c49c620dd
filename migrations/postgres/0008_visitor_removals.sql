-- Codes whose visitors are still to be deleted. A row is written in the transaction that moves the counters' checkpoint
-- past the deletion of the code, or past a scan of it that arrived later from a spool. A code can have millions of
-- visitors, so projections/visitor-removals.ts deletes them in chunks, each in a transaction of its own, and keeps here
-- where the next chunk starts; with the last chunk the row is deleted, too.

CREATE TABLE visitor_removals (
  code         text COLLATE "C" PRIMARY KEY,
  next_visitor uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
);
