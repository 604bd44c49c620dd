-- A list of codes at an earlier time finds the first change of each code since then in this index alone (src/codes/list-as-of.ts):
-- reading the events themselves takes three times as long.
CREATE INDEX events_changes ON events (stream, version) INCLUDE (type, occurred_at);
