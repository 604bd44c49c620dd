#!/bin/sh
# Runs once in the container of Postgres, when the database is created: the service gets a role that owns its database and
# has no other right on the server. The secret database_url has its password.
set -eu

password=$(sed -n 's|^postgres://scanlog:\([0-9a-f]\{48\}\)@.*|\1|p' /run/secrets/database_url)
[ -n "$password" ] || {
  printf 'postgres-role.sh: the secret database_url has no password of the role scanlog: make it with secrets.sh.\n' >&2
  exit 1
}
psql --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 --quiet <<END
CREATE ROLE scanlog LOGIN PASSWORD '$password';
CREATE DATABASE scanlog OWNER scanlog TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C';
REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;
END
