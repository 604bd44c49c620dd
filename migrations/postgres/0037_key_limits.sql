-- What a key may do (events/key.ts), until when, and from which networks; NULL for no limit, which keys of earlier versions
-- have. `replaced_by` is the key that took its place in a rotation.
ALTER TABLE api_keys
  ADD COLUMN scopes        text[] COLLATE "C",
  ADD COLUMN expires_at    timestamptz,
  ADD COLUMN allowed_cidrs text[] COLLATE "C",
  ADD COLUMN replaced_by   text COLLATE "C";
