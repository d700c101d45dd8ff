#!/bin/busybox sh
# Runs in a guest, for test.sh: the tests of the rooms that ranks see, over its device.
#
#   suites.sh alone         ranks are goroutines on several hosts, and processes
#   suites.sh placed        the arena where there are huge pages and two NUMA nodes
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

# chosen are the tests of a room in which the device matters most: a guest is some forty
# times slower than its host. With GOLAUNCH_SOAK=1 it is all of them, but for what starts
# the go command, as there is none here, and what repeats the tests for windows that do
# not use the device.
left_out='TestBusyTargetIsServed|TestKilled|TestLostPage|TestStoreBuffering|TestStressedProcesses|TestAllWindowsCoherent'
chosen() {
	if [ "${GOLAUNCH_SOAK:-}" = 1 ]; then
		echo .
		return
	fi
	case $1 in
	world) echo '^(TestRing|TestPaths|TestOneSidedOverConnections|TestBurstsOfMessages|TestTruncatedMessageNamesBothLengths|TestFailedRankBreaksCollectives|TestRegisteredMemoryIsMapped)$' ;;
	arena) echo '^(TestPeersReachSegments|TestLatePutMeetsQuarantine|TestUnmapRemapLatePut|TestUnmapRemapRemoteWrite|TestPreRegistration|TestPagesAreDeregisteredFirst|TestWideHold|TestFreeUnder|TestGoneConfirms|TestCloseLeavesNothing)$' ;;
	window) echo '^(TestPutGetFence|TestTransferLengths|TestStackBuffers|TestProgramOrder|TestFlushCompletes|TestLongAccumulates|TestLargeElements|TestFreeReuseLateRemoteWrite|TestLateRemoteWriteUnconfirmed|TestWindowsRegisterNothing|TestOneMechanism|TestMixedAtomicsLoseUpdates|TestNICAtomicsIsADeclaration|TestNICAtomicsIsAgreedOn|TestPathOfPagers|TestCoherentPutGet|TestCoherentMap|TestFalseSharing)$' ;;
	pair) echo '^(TestPutGetFence|TestTransferLengths|TestStackBuffers|TestLongAccumulates|TestNICAtomicsIsAgreedOn|TestPathOfPagers)$' ;;
	collectives) echo '^(TestEveryWayGivesTheSameBetweenHosts|TestLongVectorsBetweenHosts|TestDeathOfARankEndsTheOperation|TestMismatch)$' ;;
	esac
}

# join runs a room's tests as a job of two hosts. This guest is the given one of them; the
# first one is the front, too.
join() { # guest, ranks, room, which tests
	supervise="./golaunch supervise --join 10.9.0.1:4711 --secret-file key --wait 60s"
	if [ "$1" = 2 ]; then
		run 300 $supervise
		return
	fi
	$supervise &
	run 300 ./golaunch --listen 10.9.0.1:4711 --hosts 2 --secret-file key -n "$2" --tag-output -x GOLAUNCH_VERBS_REQUIRED=1 \
		"/job/$3.test" -test.short -test.v -test.run "$(chosen "$4")" -test.skip "$left_out"
	wait
}

case $1 in
alone)
	run 60 ./far.test -test.v
	for room in arena world window collectives; do
		run 300 ./$room.test -test.short -test.v -test.run "$(chosen $room)" -test.skip "$left_out"
	done
	run 200 ./golaunch -n 3 --transport verbs --tag-output ./window.test -test.short -test.v -test.run "$(chosen window)" -test.skip "$left_out"
	;;
placed)
	echo advise >/sys/kernel/mm/transparent_hugepage/shmem_enabled
	export GOLAUNCH_PLACES_REQUIRED=1
	run 100 ./arena.test -test.v -test.run '^(TestHugePages|TestPagesOnOwnNode|TestPeersReachSegments)$'
	;;
joined)
	echo "between guests only" >key
	chmod 600 key
	# With two ranks each has a guest of its own, with four there are ranks of one guest, too.
	join "$2" 2 window pair
	join "$2" 4 window window
	join "$2" 4 collectives collectives
	;;
esac
exit $failed
