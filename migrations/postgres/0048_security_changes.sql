-- What changed about how people sign in, for the person alone: names of devices and passkeys are personal data, so it is here and not in
-- the log. The newest 200 of a person, for a year; deleted with the person (src/people/security-changes.ts).
CREATE TABLE security_changes (
  user_id    text        COLLATE "C" NOT NULL,
  -- Counts the changes of the person.
  number     integer     NOT NULL,
  -- Such as password_changed.
  change     text        NOT NULL,
  -- The name of a passkey, the host of a provider, the new address or a number of sessions; NULL without one.
  detail     text,
  -- The person, another person who is operator, or 'operator' for a command.
  actor      text        COLLATE "C" NOT NULL,
  -- Of the person; NULL if an operator made the change.
  device     text,
  browser    text,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, number)
);
CREATE INDEX security_changes_changed_at ON security_changes (changed_at);
