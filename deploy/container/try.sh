#!/bin/sh
# Builds deploy/Dockerfile and tries the image, on a machine without a container engine and without a registry:
#
#   deploy/container/try.sh [folder for base images, kept for the next run]
#
# As root on Debian, with buildah and mmdebstrap. The base images are made of Debian's packages and imported under the names
# that the Dockerfile asks for. A temporary ./scanlog up starts the servers; the image runs as a second instance.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
work=$(mktemp -d)
bases=${1:-$work/bases}
authorities=/etc/ssl/certs/ca-certificates.crt
mkdir -p "$bases"
up='' service=''

say() { printf '%s\n' "$*"; }
die() {
  say "try.sh: $*" >&2
  exit 1
}
in_image() { buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }
clean_up() {
  [ -z "$service" ] || kill "$service" 2>/dev/null || true
  [ -z "$up" ] || { kill "$up" 2>/dev/null && wait "$up" || true; }
  in_image umount --all >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap clean_up EXIT
# Repeats a command for up to 60 s until it succeeds.
until_true() {
  for _ in $(seq 120); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.5
  done
  die "did not happen within 60 s: $*"
}

# $1: file; $2: name of the image; the rest: packages.
base_image() {
  [ -s "$bases/$1" ] || mmdebstrap --quiet --variant=minbase --include="$3" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' trixie "$bases/$1"
  container=$(in_image from scratch)
  in_image add --quiet "$container" "$bases/$1" / >/dev/null
  # They trust the authorities that this machine trusts, such as the authority of a proxy of your company.
  in_image copy --quiet "$container" "$authorities" "$authorities" >/dev/null
  in_image config --env NODE_EXTRA_CA_CERTS="$authorities" "$container"
  in_image commit --quiet --rm "$container" "$2" >/dev/null
}
say '1. base images, from Debian packages'
base_name() { sed -n "s|^FROM \(docker.io/library/$1:[^ ]*\).*|\1|p" "$root/deploy/Dockerfile"; }
base_image slim.tar "$(base_name debian)" ca-certificates
base_image node.tar "$(base_name node)" ca-certificates,nodejs,npm

say '2. the image'
in_image bud --quiet --format docker --isolation chroot --network host --pull-never \
  --file "$root/deploy/Dockerfile" --tag scanlog "$root" >/dev/null
container=$(in_image from --pull-never scanlog)
mounted=$(in_image mount "$container")
size=$(du -sm "$mounted" | cut -f1)
say "   $size MB unpacked, of which $(du -sm "$mounted/opt/scanlog" "$mounted/usr/local/bin" | awk '{s += $1} END {print s}') MB are Scanlog and Bun"
[ "$size" -lt 400 ] || die "the image has $size MB, and must have less than 400."
for tool in gcc make npm node git python3 curl; do
  [ -z "$(find "$mounted/usr/bin" "$mounted/usr/local/bin" -name "$tool")" ] || die "the image contains $tool."
done
for package in diff $(node -p "Object.keys(require('$root/package.json').devDependencies).join(' ')"); do
  [ ! -e "$mounted/opt/scanlog/node_modules/$package" ] || die "the image contains $package, which it does not need."
done
config() { in_image inspect --type image scanlog | node -e "
  const { Docker } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  console.log($1.map((word) => \"'\" + word.replaceAll(\"'\", \"'\\\\\\\\''\") + \"'\").join(' '));"; }
command=$(config '[...Docker.config.Entrypoint, ...Docker.config.Cmd]')
health=$(config 'Docker.config.Healthcheck.Test.slice(1)')

say '3. servers, and an account'
mkdir "$work/data"
"$root/scanlog" up --data "$work/data" --port 0 >"$work/up.log" 2>&1 &
up=$!
until_true grep -q 'Ctrl-C stops everything' "$work/up.log"
value() { node -p "require('$work/data/$1').$2"; }
mkdir "$work/secrets"
value run/stack.json databaseUrl >"$work/secrets/database_url"
value run/stack.json natsUrl >"$work/secrets/nats_url"
value run/stack.json clickhouseUrl >"$work/secrets/clickhouse_url"
value secrets.json secretKey >"$work/secrets/secret_key"
chmod -R a+rX "$work/secrets"
key=$(sed -n 's/^LIVE_KEY=//p' "$work/data/demo-keys.env")

say "4. its command, as its user: $command"
port=$(node -e "const s = require('net').createServer().listen(0, () => { console.log(s.address().port); s.close(); })")
touch "$work/started"
run() {
  eval "in_image run --isolation chroot --network host --volume '$work/secrets:/run/secrets:ro' \
    --env PORT=$port --env METRICS_PORT=0 --env HOST=127.0.0.1 --env METRICS_HOST=127.0.0.1 --env CLICKHOUSE_DATABASE=scanlog \
    --env DATABASE_URL_FILE=/run/secrets/database_url --env NATS_URL_FILE=/run/secrets/nats_url \
    --env CLICKHOUSE_URL_FILE=/run/secrets/clickhouse_url --env SECRET_KEY_FILE=/run/secrets/secret_key '$container' -- $*"
}
run "$command" >"$work/service.log" 2>&1 &
service=$!
until_true curl -sf "http://127.0.0.1:$port/readyz"
run "$health" || die 'the health check fails while the service runs.'
say '   the health check succeeds'
[ "$(stat -c %U "/proc/$(pgrep -f "^bun /opt/scanlog/src/cli.ts serve" | head -n 1)")" != root ] || die 'it runs as root.'
api() { path=$1 && shift && curl -sf "http://127.0.0.1:$port/v1/$path" -H "Authorization: Bearer $key" "$@"; }
id=$(api qrcodes -H 'Content-Type: application/json' -d '{"name": "Try", "destination_url": "https://example.com/try",
  "short_code": "try", "style": {"dotsType": "rounded"}}' | sed -n 's/.*"id":"\(qr_[^"]*\)".*/\1/p')
location=$(curl -s -o /dev/null -w '%{http_code} %{redirect_url}' "http://127.0.0.1:$port/try")
[ "$location" = '302 https://example.com/try' ] || die "the redirect was $location."
say "   a redirect: $location"
# They use packages with native and WebAssembly files.
api "qrcodes/$id/download?format=png&size=512" | head -c 4 | grep -q PNG || die 'an image cannot be drawn.'
api "qrcodes/$id/preflight" | grep -q '"readable":true' || die 'an image cannot be read back.'
curl -sf "http://127.0.0.1:$port/console" >/dev/null || die 'the console does not answer.'
run "scanlog account list" | grep -q Demo || die 'the command line inside the image does not work.'

say '5. SIGTERM to its first process'
kill -TERM "$(pgrep -f '^/usr/bin/tini -- scanlog serve' | head -n 1)"
wait "$service" && code=0 || code=$?
service=''
[ "$code" = 0 ] || die "it ended with $code: $(tail -n 5 "$work/service.log")"
grep -q stopping "$work/service.log" || die 'it did not stop in order.'
! run "$health" 2>/dev/null || die 'the health check succeeds without a service.'
written=$(find "$mounted" -xdev -newer "$work/started" -type f ! -path "$mounted/var/lib/scanlog/*" ! -path "$mounted/tmp/*" ! -path "$mounted/run/*" ! -path "$mounted/etc/*" | head)
[ -z "$written" ] || die "it wrote to its image: $written"
"$root/scanlog" verify --data "$work/data" >/dev/null 2>&1 || die 'verify found a difference.'
say 'All of it passed.'
