#!/usr/bin/env bash
# Runs the tests of transport/verbs where there is a device: in a guest, and the
# exchange between two ranks in two guests. See guest.sh for what it needs and keeps.
#
#   test.sh [ARGS...]    ARGS are go test's for a test binary, as -test.run=Conformance
set -euo pipefail
cd "$(dirname "$0")/../../.."
guest=transport/verbs/guest/guest.sh

command -v "${CC:-cc}" >/dev/null || { echo "test.sh: no C compiler; apt-get install gcc libc6-dev" >&2; exit 1; }
packages=$($guest -I)
export CGO_ENABLED=1 CGO_CFLAGS="${CGO_CFLAGS:--O2 -g} -I$packages/usr/include" GOLAUNCH_VERBS_REQUIRED=1
go vet ./transport/verbs/...
go tool staticcheck ./transport/verbs/...
binary=$(mktemp -d)
trap 'rm -rf "$binary"' EXIT
go test -c -o "$binary/verbs.test" ./transport/verbs

if [ $# -gt 0 ]; then
  $guest -t 1800 "$binary/verbs.test" "$@"
  exit
fi
$guest -t 1800 "$binary/verbs.test" -test.short -test.timeout 25m
GOLAUNCH_VERBS_GUEST={} $guest -n 2 -t 300 "$binary/verbs.test" -test.v -test.run TestTwoGuests -test.timeout 4m
