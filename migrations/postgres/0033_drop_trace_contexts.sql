-- Traces are continued by the header of the stream's messages alone.
DROP TABLE trace_contexts;
