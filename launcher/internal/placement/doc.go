// Package placement decides which host takes how many ranks. It is pure: the same
// hosts and the same wish give the same answer, in whatever order the hosts come.
//
// A host takes a block of neighbouring ranks. Which hosts are asked for decides who
// may take any (names, labels, what the program needs), their free slots and the
// ranks per host decide how many at most, and the policy how many they get:
//
//	slot  one host is filled after the other
//	host  blocks are as equal as the slots allow
//	load  each rank goes to the host that has the least to do for each of its cores
//
// Whoever oversubscribes gives hosts more ranks than they have free slots, all of
// them in proportion to their slots, and no more than it takes.
package placement
