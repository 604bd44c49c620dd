-- Codes that open with a password. Its argon2id hash is here and not in the log, of which a copy must not be enough to guess it.
ALTER TABLE codes ADD COLUMN has_password boolean;

CREATE TABLE code_passwords (
  code text COLLATE "C" PRIMARY KEY,
  hash text NOT NULL
);
