#!/bin/sh
# Follows docs/deploy.md on empty machines, with every command as written:
#
#   deploy/try-page.sh one|three [archive of the empty machine, kept for the next run, or one of another release]
#
# As root on Debian, with mmdebstrap, systemd-container and slirp4netns. A machine is a container with nothing but Debian 13
# and systemd, in a network namespace with the internet and 10.0.0.0/24. Three things stand in for what is not there:
#
# - The domain is in /etc/hosts, and a Caddy at the address of Let's Encrypt issues its certificate over ACME.
# - "$REPOSITORY" is the last commit of this checkout.
# - "three" begins with copies of "one" after step 2, and has one ClickHouse of ./scanlog up instead of three replicas: step 4
#   and CLICKHOUSE_CLUSTER are left out.
set -eu

pages=${1:?usage: deploy/try-page.sh one|three [archive]}
checkout=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
work=$(mktemp -d)
base=${2:-$work/base.tar}
prefix=scanlog-$$
trap 'clean_up' EXIT
trap 'exit 1' INT TERM

say() { printf '%s\n' "$*"; }
die() {
  say "try-page.sh: $*" >&2
  exit 1
}
pids=''
clean_up() {
  # The first process of a container ends all others of it.
  for pid in $pids; do kill -KILL "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  for name in switch authority one two three; do ip netns delete "$prefix-$name" 2>/dev/null || true; done
  rm -rf "$work" 2>/dev/null || { sleep 2; rm -rf "$work"; }
}
# $1: description; the rest: a command that is repeated for up to 60 s until it succeeds.
until_true() {
  what=$1
  shift
  for _ in $(seq 120); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.5
  done
  die "did not happen within 60 s: $what"
}

# A network namespace at 10.0.0.$2, on the switch of all machines.
add_network() {
  ip netns add "$prefix-$1"
  ip -n "$prefix-$1" link set lo up
  ip -n "$prefix-$1" link add eth0 type veth peer name "$1" netns "$prefix-switch"
  ip -n "$prefix-switch" link set "$1" master switch up
  ip -n "$prefix-$1" address add "10.0.0.$2/24" dev eth0
  ip -n "$prefix-$1" link set eth0 up
}

# Boots an empty machine and opens a shell on it, in which each block of the page runs.
start_machine() {
  add_network "$1" "$2"
  slirp4netns --configure --mtu=1400 --netns-type=path "/run/netns/$prefix-$1" tap0 >"$work/$1.network" 2>&1 &
  pids="$pids $!"
  [ -d "$work/$1" ] || { mkdir "$work/$1" && tar -xf "$base" -C "$work/$1" --numeric-owner; }
  # The authorities that this machine trusts besides Debian's, such as the authority of a proxy of your company.
  mkdir -p "$work/$1/usr/local/share/ca-certificates"
  cp /usr/local/share/ca-certificates/*.crt "$work/$1/usr/local/share/ca-certificates/" 2>/dev/null || true
  printf '%s\n' "$1" >"$work/$1/etc/hostname"
  printf '127.0.0.1 localhost\n10.0.0.1 qr.example.com\n10.0.0.254 acme-v02.api.letsencrypt.org\n' >"$work/$1/etc/hosts"
  SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn --quiet --directory "$work/$1" --boot --register=no --keep-unit \
    --network-namespace-path="/run/netns/$prefix-$1" --resolv-conf=copy-host </dev/null >"$work/$1.boot" 2>&1 &
  nspawn=$!
  until_true "$1 boots" grep -q 'login:' "$work/$1.boot"
  first=$(pgrep -P "$nspawn" | head -n 1)
  eval "first_$1=$first"
  pids="$first $pids"
  [ -d "$work/$1/srv/scanlog.git" ] || git clone --quiet --bare "$checkout" "$work/$1/srv/scanlog.git"
  mkfifo "$work/$1.in"
  nsenter --target "$first" --all env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    REPOSITORY=/srv/scanlog.git sh -c 'cd /root && exec sh -e' <"$work/$1.in" >"$work/$1.log" 2>&1 &
  eval "shell_$1=$!"
  eval "exec $((2 + $2))>'$work/$1.in'"
  eval "fd_$1=$((2 + $2))"
}

# Runs a file with commands in the shell of a machine. Later blocks see its variables and its folder.
run_on() {
  eval "fd=\$fd_$1 shell=\$shell_$1"
  cp "$2" "$work/$1/root/block"
  ended="end of $(basename "$2") $(date +%N)"
  printf '. /root/block </dev/null; echo "%s"\n' "$ended" >&"$fd"
  while ! grep -qF "$ended" "$work/$1.log"; do
    kill -0 "$shell" 2>/dev/null || {
      tail -n 40 "$work/$1.log"
      die "a command failed on $1: $(cat "$2")"
    }
    sleep 0.2
  done
}
# The same for commands that are not on the page.
also_on() {
  printf '%s\n' "$2" >"$work/also"
  run_on "$1" "$work/also"
}

# Writes the blocks of a section of the page to files: first the comment above the block, then its commands.
read_blocks() {
  mkdir -p "$work/$2"
  awk -v section="## $1" -v folder="$work/$2" '
    /^## / { inside = $0 == section }
    !inside { next }
    /^<!-- / { comment = $0; next }
    /^```sh$/ { file = sprintf("%s/%02d", folder, ++count); print "# " comment >file; reading = 1; next }
    /^```$/ { if (reading) close(file); reading = 0; comment = ""; next }
    reading { print >file }
  ' "$checkout/docs/deploy.md"
}

# A Caddy at the address of Let's Encrypt, which connects to the domain for the challenge as Let's Encrypt does.
start_authority() {
  printf '127.0.0.1 localhost\n10.0.0.1 qr.example.com\n' >"$work/authority.hosts"
  mkdir -p "$work/one/srv/authority"
  cat >"$work/one/srv/authority/Caddyfile" <<'END'
{
	admin off
	skip_install_trust
	local_certs
}
acme-v02.api.letsencrypt.org {
	rewrite /directory /acme/local/directory
	acme_server
}
END
  ip netns exec "$prefix-authority" unshare --mount sh -c "mount --bind '$work/authority.hosts' '$work/one/etc/hosts' &&
    HOME=/srv/authority XDG_DATA_HOME=/srv/authority exec chroot '$work/one' caddy run --config /srv/authority/Caddyfile --adapter caddyfile" \
    >"$work/authority.log" 2>&1 &
  pids="$pids $!"
  root_certificate=$work/one/srv/authority/caddy/pki/authorities/local/root.crt
  until_true 'the authority starts' test -s "$root_certificate"
  cp "$root_certificate" "$work/one/usr/local/share/ca-certificates/authority.crt"
  also_on one update-ca-certificates
}

[ -s "$base" ] || mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus trixie "$base"
ip netns add "$prefix-switch"
ip -n "$prefix-switch" link add switch type bridge
ip -n "$prefix-switch" link set switch up
add_network authority 254
start_machine one 1
read_blocks 'One server' page-one
for block in "$work/page-one"/*; do
  say "one: $(sed -n 2p "$block")"
  run_on one "$block"
  case $(cat "$block") in
    *'apt-get install'*caddy*) start_authority ;;
    *'git clone'*)
      [ "$pages" = one ] || for name in two three; do
        cp -a --one-file-system "$work/one" "$work/$name"
        rm -f "$work/$name/etc/machine-id" "$work/$name/root/block"
      done
      ;;
  esac
done
printed() { grep -qF "$2" "$work/$1.log" || die "$1 did not print: $2"; }
printed one '"status":"ready"'
printed one '302 https://example.com/menu'
printed one 'the log, the counters, the warehouse and the webhooks agree'
say 'One server: every command succeeded, and https://qr.example.com/menu redirects.'
[ "$pages" = three ] || exit 0

start_machine two 2
start_machine three 3
# $1: a name; $2: where a process of Node.js listens; $3: where it forwards connections to.
forward() {
  also_on "$1" "systemd-run --quiet node -e 'const net = require(\"net\"); net.createServer((from) => {
    const to = net.connect($3); from.pipe(to).pipe(from); from.on(\"error\", () => to.destroy()); to.on(\"error\", () => from.destroy());
  }).listen($2)'"
}
# In place of step 4, on three, because one is going to fail.
start_clickhouse() {
  also_on three 'systemd-run --quiet --setenv=METRICS_PORT=0 --setenv=HOME=/root /opt/scanlog/scanlog up --data /srv/clickhouse --port 3999'
  until_true 'ClickHouse starts' grep -q clickhouseUrl "$work/three/srv/clickhouse/run/stack.json"
  clickhouse_url=$(sed -n 's/.*"clickhouseUrl": *"\([^"]*\)".*/\1/p' "$work/three/srv/clickhouse/run/stack.json")
  forward three '8123, "0.0.0.0"' "${clickhouse_url##*:}, \"127.0.0.1\""
  for name in one two; do forward "$name" '8123, "127.0.0.1"' '8123, "10.0.0.3"'; done
}
copy_secrets() {
  for name in two three; do mkdir -p "$work/$name/etc/scanlog" && cp -a "$work/one/etc/scanlog/secrets" "$work/$name/etc/scanlog/"; done
}
# The last two commands of step 5, which step 6 repeats.
protect_secrets() {
  grep -h '^ch' "$work/page-three"/* | grep ' -R ' >"$work/protect"
  for name in one two three; do run_on "$name" "$work/protect"; done
}
# The page itself has scanned the code once.
scans=1
scan() {
  [ "$(curl_on "$1" -o /dev/null -w '%{http_code}' http://127.0.0.1:3000/menu)" = 302 ] || return
  scans=$((scans + 1))
}
curl_on() {
  machine=$1
  shift
  ip netns exec "$prefix-$machine" curl -sS "$@"
}
fail_over() {
  # Edges redirect codes that they know.
  for name in one two three; do until_true "$name redirects" scan "$name"; done
  say 'one: switched off'
  kill -KILL "$first_one"
  until_true 'two redirects without Postgres' scan two
  scan three || die 'three does not redirect without Postgres.'
}

read_blocks 'Three servers' page-three
for block in "$work/page-three"/*; do
  case $(cat "$block") in
    *'not run'*) start_clickhouse && continue ;;
    *pg_promote*) fail_over ;;
  esac
  case $(head -n 1 "$block") in
    *'on one'*) names=one ;;
    *'on two and three'*) names='two three' ;;
    *'on two'*) names=two ;;
    *) names='one two three' ;;
  esac
  case $(cat "$block") in *'sed -i'*/etc/hosts*) names='two three' ;; esac
  for name in $names; do
    say "$name: $(sed -n 2p "$block")"
    sed "s/^NAME=one$/NAME=$name/" "$block" >"$work/block"
    run_on "$name" "$work/block"
  done
  case $(cat "$block") in
    *'openssl rand'*) copy_secrets ;;
    *'SCANLOG_COMMAND=serve'*)
      for name in $names; do
        also_on "$name" "printf %s '${clickhouse_url%@*}@127.0.0.1:8123' >/etc/scanlog/secrets/clickhouse_url
          sed -i /CLICKHOUSE_CLUSTER/d /etc/scanlog/scanlog.env"
      done
      ;;
    *'scanlog restore'*) copy_secrets && protect_secrets ;;
    *'enable --now scanlog'*)
      for name in $names; do until_true "$name is ready" curl_on "$name" -f http://127.0.0.1:3000/readyz; done
      # Step 7, on one only: the three have no shared storage for the certificate.
      also_on one 'echo "Environment=\"SCANLOG_UPSTREAM=one:3000 two:3000 three:3000\"" >>/etc/systemd/system/caddy.service.d/scanlog.conf
        systemctl daemon-reload; systemctl restart caddy; systemctl stop scanlog'
      until_true 'Caddy on one sends requests to the others' curl_on one -f -o /dev/null --cacert "$root_certificate" \
        --resolve qr.example.com:443:10.0.0.1 https://qr.example.com/menu
      scans=$((scans + 1))
      also_on one 'systemctl start scanlog'
      ;;
  esac
done
until_true 'two is ready' curl_on two -f http://127.0.0.1:3000/readyz
scan two || die 'two does not redirect.'
also_on two 'for _ in 1 2 3 4 5 6; do ./scanlog verify && break; sleep 5; done; ./scanlog verify'
also_on two "runuser -u postgres -- psql --dbname scanlog --tuples-only --command \"SELECT 'stored: ' || count(*) FROM scans\""
printed two "stored: $scans"
say "Three servers: every command succeeded, two replaced one, all $scans scans are there, and verify found no difference."
