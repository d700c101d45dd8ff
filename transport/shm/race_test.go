//go:build race

package shm

// raceEnabled makes the long tests shorter: the detector costs a factor of ten,
// and does not see memory between processes.
const raceEnabled = true
