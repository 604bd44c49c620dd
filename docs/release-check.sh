#!/bin/sh
# Checks this version on real servers: Postgres, NATS, and ClickHouse with 1, 2 or 3 replicas. See docs/operations.md.
# It uses a Postgres database, a stream and a ClickHouse database with a new name (scanlog_check_…), and drops them at the end.
#
#   DATABASE_URL=postgres://… NATS_URL=nats://… CLICKHOUSE_URL=http://… [CLICKHOUSE_CLUSTER=…] docs/release-check.sh [minutes]
set -eu

minutes=${1:-10}
scanlog=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)/scanlog
for variable in DATABASE_URL NATS_URL CLICKHOUSE_URL; do
  eval "value=\${$variable:-\${${variable}_FILE:-}}"
  [ -n "$value" ] || {
    printf 'release-check: set %s or %s_FILE.\n' "$variable" "$variable" >&2
    exit 1
  }
done
# The check uses its own databases, so any key will do for them.
[ -n "${SECRET_KEY_FILE:-}" ] || export SECRET_KEY="${SECRET_KEY:-$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')}"

printf '1. Versions, grants, macros, clocks, disks, and settings that lose data\n'
"$scanlog" doctor

printf '\n2. %s minutes of faults of our own services and connections, then the only code of a month is deleted\n' "$minutes"
"$scanlog" chaos --external --minutes "$minutes"

printf '\nAll of it passed.\n'
