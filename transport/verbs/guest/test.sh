#!/usr/bin/env bash
# Runs tests where there is a device: those of transport/verbs, and the suites of the
# rooms above it (suites.sh), in one guest and in two. See guest.sh for what it needs
# and keeps.
#
#   test.sh [ARGS...]    ARGS are go test's for transport/verbs' test binary alone, as
#                        -test.run=Conformance
set -euo pipefail
cd "$(dirname "$0")/../../.."
guest=transport/verbs/guest/guest.sh
suites=transport/verbs/guest/suites.sh

command -v "${CC:-cc}" >/dev/null || { echo "test.sh: no C compiler; apt-get install gcc libc6-dev" >&2; exit 1; }
packages=$($guest -I)
export CGO_ENABLED=1 CGO_CFLAGS="${CGO_CFLAGS:--O2 -g} -I$packages/usr/include" GOLAUNCH_VERBS_REQUIRED=1
go vet ./transport/verbs/...
go tool staticcheck ./transport/verbs/...
binary=$(mktemp -d)
trap 'rm -rf "$binary"' EXIT
go test -c -o "$binary/verbs.test" ./transport/verbs
go test ./transport/verbs/internal/cstack

if [ $# -gt 0 ]; then
  $guest -t 1800 "$binary/verbs.test" "$@"
  exit
fi
files=(-f "$binary/golaunch")
go build -ldflags "-s -w" -o "$binary/golaunch" ./launcher/golaunch
for room in transport/far runtime/arena runtime/world window collectives; do
  go test -c -ldflags "-s -w" -o "$binary/$(basename $room).test" ./$room
  files+=(-f "$binary/$(basename $room).test")
done
$guest -t 1800 "$binary/verbs.test" -test.short -test.timeout 25m
$guest -m 1200 -t 1800 "${files[@]}" $suites alone
$guest -N -t 300 -f "$binary/arena.test" $suites placed
GOLAUNCH_VERBS_GUEST={} $guest -n 2 -t 300 "$binary/verbs.test" -test.v -test.run TestTwoGuests -test.timeout 4m
$guest -n 2 -m 1200 -t 1800 "${files[@]}" $suites joined {}
