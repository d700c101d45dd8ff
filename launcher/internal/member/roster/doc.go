// Package roster decides what a host believes about the members of its cluster, and
// whom it calls to find more of them. It is pure: events and the time go in, changes
// and addresses to call come out; it imports nothing that has a clock or a network.
// Package member carries it out over memberlist.
//
// # The table
//
// Gossip says Up and Down of a name; a member that leaves says Goodbye beforehand, but
// news travel by themselves and may arrive in any order. What follows from them:
//
//	        Up                              Down           Goodbye of this life
//	none    Joined, alive                   -              -
//	alive   Updated; Restarted if the life  Died, dead     remembered: the next Down is
//	        is another                                     Left, left
//	dead    Joined, alive                   -              Left, left
//	left    Joined, alive                   -              -
//
// A life is what the member's process drew when it started: gossip need not have seen
// the end of one to learn of the next. An order among lives is not looked for, because
// gossip itself keeps the newest word of each member, and a host's clock may be set back.
//
// A name belongs to whoever has it while it is alive: gossip refuses a second one, and
// the roster reports that (Clashed), once in a while. When the holder is dead or has
// left, the name goes to whoever comes with it, at any address.
//
// Who is dead or has left stays in the table for [Config].Forget, to be shown, and no
// longer than there is room.
//
// # Calls
//
// Gossip forgets the dead, so two halves of a cluster that have lost sight of each
// other would stay apart for ever. The roster therefore asks for calls:
//
//   - alone, it wants seeds, members remembered from before, and the dead called, a few
//     at a time, at intervals that double from First to Last;
//   - in company, one of the dead, or a seed that never answered, about every Heal;
//     less often the more members there are to do the same, so that a dead host is
//     called about perRound times in Heal, whatever the cluster's size.
//
// Members that have left are not called. One round is under way at a time.
//
// Goroutine safety: none; a [Roster] belongs to one goroutine.
package roster
