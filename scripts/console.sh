#!/usr/bin/env bash
# Builds the web console into web/dist, if anything of it has changed since: scripts/console.sh
# Needs node and npm (scripts/deps.sh console) and the npm registry, for what web/package-lock.json names.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../web"
say() { printf 'console: %3ds  %s\n' "$SECONDS" "$*" >&2; }

# What a build depends on; names and contents, not times, which a checkout changes.
sources() { find . -type f -not -path './node_modules/*' -not -path './dist/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; }

lock=$(sha256sum package-lock.json | cut -c1-16)
if [ "$(cat node_modules/.cardhour-lock 2>/dev/null)" != "$lock" ]; then
  say "installing its packages"
  npm ci --no-audit --no-fund --loglevel=error >&2
  echo "$lock" >node_modules/.cardhour-lock
fi
hash=$( (sources; sha256sum ../api/openapi.json) | sha256sum | cut -c1-16)
if [ "$(cat dist/.cardhour-sources 2>/dev/null)" != "$hash" ]; then
  say "building it"
  npm run --silent build >&2
  echo "$hash" >dist/.cardhour-sources
fi
