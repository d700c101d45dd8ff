#!/bin/busybox sh
# Runs in a guest, for test.sh: the tests of the rooms that ranks see, over its device.
#
#   suites.sh alone         ranks are goroutines on several hosts, and processes
#   suites.sh joined GUEST  ranks are processes in two guests: this is GUEST, 1 or 2
export GOLAUNCH_VERBS_REQUIRED=1
failed=0

run() { # limit in seconds, command...
	limit=$1
	shift
	echo "suites: $*"
	began=$(date +%s)
	timeout -s QUIT "$limit" "$@" >/tmp/output 2>&1
	code=$?
	[ $code = 0 ] || { failed=1 && grep -v "^\(\[[0-9]*\] \)\? *\(=== \|--- PASS\|--- SKIP\)" /tmp/output | head -300; }
	echo "suites: exit $code after $(($(date +%s) - began)) s; $(grep -c -e '--- PASS' /tmp/output) tests passed"
}

# What starts the go command is left out, as there is none here, and what repeats the
# tests for windows that do not use the device.
left_out='TestBusyTargetIsServed|TestKilled|TestLostPage|TestStoreBuffering|TestStressedProcesses|TestAllWindowsCoherent'

case $1 in
alone)
	for room in world window collectives; do
		run 300 ./$room.test -test.short -test.v -test.skip "$left_out"
	done
	run 200 ./golaunch -n 3 --transport verbs --tag-output ./window.test -test.short -test.v -test.skip "$left_out"
	;;
joined)
	echo "between guests only" >key
	chmod 600 key
	for room in world window collectives; do
		if [ "$2" = 1 ]; then
			run 300 ./golaunch --listen 10.9.0.1:4711 --hosts 2 --secret-file key -n 4 --tag-output -x GOLAUNCH_VERBS_REQUIRED=1 \
				/job/$room.test -test.short -test.v -test.skip "$left_out"
		else
			run 300 ./golaunch supervise --join 10.9.0.1:4711 --secret-file key --wait 60s
		fi
	done
	;;
esac
exit $failed
