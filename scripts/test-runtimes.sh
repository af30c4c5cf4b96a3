#!/usr/bin/env bash
# Installs the packed package into an empty project and runs one program on Node, Bun and Deno; all of them must print
# the same. Bun and Deno come from npm, 200 MB together, so this is not part of `npm ci` and of the tests.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cd "$root"
npm run build --silent
tarball="$(npm pack --silent --pack-destination "$work")"
cd "$work"
echo '{ "private": true, "type": "module" }' > package.json
npm install --silent --no-audit --no-fund "./$tarball" openai bun deno
cp "$root/test/runtimes/program.mjs" .
expected='{"fetch":"batch","sdk":"batch","stream":"streamed","nodeHttp":"batch","realtime":"plain","timeout":"batch","abort":"AbortError","enter":"batch","core":"batch","outside":"plain"}'
status=0

check() {
  local name="$1" printed
  shift
  rm -rf runtimes
  printed="$("$@" 2>&1)" || true
  if [ "$printed" = "$expected" ]; then
    echo "ok    $name"
  else
    printf 'bad   %s\n      printed   %s\n      expected  %s\n' "$name" "$printed" "$expected"
    status=1
  fi
}

check "Node $(node --version)" node program.mjs
check "Bun $(node_modules/.bin/bun --version)" node_modules/.bin/bun program.mjs
check "$(node_modules/.bin/deno --version | head -1)" node_modules/.bin/deno run -A --node-modules-dir=manual program.mjs
# Deno ignores what would capture, so that the program would run at full price: it is refused.
refused="$(node_modules/.bin/deno run -A --node-modules-dir=manual node_modules/batchling/dist/cli/main.js run program.mjs 2>&1)" && status=1
case "$refused" in
  *"Deno cannot be put in batch mode"*) echo "ok    batchling run is refused under Deno" ;;
  *) echo "bad   batchling run under Deno: $refused" && status=1 ;;
esac
exit "$status"
