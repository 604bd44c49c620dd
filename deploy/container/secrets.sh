#!/bin/sh
# Generates the passwords of deploy/compose.yaml in deploy/secrets, once. Back up secret_key, apart from the database.
set -eu

folder=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)/secrets
[ ! -e "$folder" ] || {
  printf 'secrets.sh: %s exists already: the databases have its passwords, so they stay.\n' "$folder" >&2
  exit 1
}
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
mkdir "$folder"
# Compose mounts the files as they are, and the processes in the containers have other user ids: the folder keeps other
# users of this machine out.
chmod 700 "$folder"
cd "$folder"
service=$(random) nats=$(random) clickhouse=$(random)
printf '%s%s' "$(random)" "$(random)" >secret_key
# Of the superuser, which only Postgres itself gets.
printf '%s' "$(random)" >postgres_password
printf '%s' "$clickhouse" >clickhouse_password
printf 'postgres://scanlog:%s@postgres:5432/scanlog' "$service" >database_url
printf 'nats://scanlog:%s@nats:4222' "$nats" >nats_url
printf 'http://scanlog:%s@clickhouse:8123' "$clickhouse" >clickhouse_url
cat >nats_config <<END
port: 4222
http: 127.0.0.1:8222
jetstream { store_dir: /data }
authorization { user: scanlog, password: "$nats" }
END
chmod 444 ./*
printf 'The secrets are in %s. Keep a copy of secret_key in another place than the backups.\n' "$folder"
