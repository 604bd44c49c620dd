-- The log: the only truth. Everything else in this database can be made again from it.
--
-- One total order over everything that is appended. A sequence alone would not give it: a value is drawn before its
-- transaction commits, so a reader could pass 7 while 6 is not yet visible, and never see 6. Every append therefore
-- takes one advisory lock before it draws, and keeps it until it has committed (src/log/append.ts). A transaction
-- that rolls back leaves a gap, which means nothing.

CREATE SEQUENCE log_position AS bigint;

CREATE TABLE events (
  position    bigint      PRIMARY KEY,
  id          text        COLLATE "C" NOT NULL,
  stream      text        COLLATE "C" NOT NULL,
  version     integer     NOT NULL,
  type        text        COLLATE "C" NOT NULL,
  schema      smallint    NOT NULL,
  data        jsonb       NOT NULL,
  actor       text        COLLATE "C" NOT NULL,
  occurred_at timestamptz NOT NULL,
  -- Two writers that saw the same version: only one of them can be first.
  CONSTRAINT events_stream_version UNIQUE (stream, version)
);

-- Events are facts in the past. Nothing changes or removes one.
CREATE FUNCTION refuse_change_of_the_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the log is only ever appended to';
END
$$;

CREATE TRIGGER events_are_facts BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_the_log();
