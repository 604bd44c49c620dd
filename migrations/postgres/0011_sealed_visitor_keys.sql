-- The key under which a code's visitors are hashed, encrypted with SECRET_KEY (src/lib/secret-box.ts): the database, or a
-- backup of it, is not enough to find an address by trying all of them. SQL has no SECRET_KEY, so the service seals the
-- keys that exist after its start (src/codes/visitor-key-upkeep.ts). The old table is renamed instead of altered: when it
-- is empty it is truncated, which removes the file that the plain keys were in; and a process of an older version, which
-- reads visitor_keys.key, fails instead of hashing visitors under an empty key.
ALTER TABLE visitor_keys RENAME TO unsealed_visitor_keys;
ALTER INDEX visitor_keys_pkey RENAME TO unsealed_visitor_keys_pkey;
CREATE TABLE visitor_keys (
  code   text  COLLATE "C" PRIMARY KEY,
  sealed bytea NOT NULL
);

-- Client addresses are now hashed under a key derived from SECRET_KEY.
DELETE FROM secrets WHERE name = 'client_address';
