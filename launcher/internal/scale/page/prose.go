package main

// prose is the page. What stands in braces is written by the program.
const prose = `<!-- written by make scale; what it says is in launcher/internal/scale -->
# How far it scales

What launches and gossip would do on up to 100,000 hosts with 1,000,000 ranks. Nobody here
has so many: this is a simulation (launcher/internal/scale) from what single steps cost on
one machine, with [measurements](#beside-measurements) beside it as far as they go, 200
hosts. ` + "`make scale`" + ` writes this page.

![Four plots over the number of hosts: time to launch, bytes sent, time until news are known, bytes of idle members](scale.svg)

Hosts have {CORES} cores, {MEMORY} of memory and {RANKS} ranks each, and programs are
there already. Beyond what was measured, believe the shape of a curve, and its place
to a factor of two or three.

**In short.** Up to about 1,000 hosts everything is as it should be: a launch takes one or two
seconds, most of it golaunch's work with each rank's messages. From there on it takes longer in
proportion, and the bound on ranks (65,536) is a launch's end: 6,500 such hosts, and twelve
seconds. With that raised, it is one agent that asks all others which ends it, at some
36,000 hosts. Gossip reaches 98,000 hosts, where memberlist refuses what members exchange.
**100,000 hosts with 1,000,000 ranks are therefore out of reach today**, by the first four
rows of [where it stops](#where-it-stops); what the simulation says of them is what would be
if those were gone.

## Launching

{PHASES}

Until all slots are reserved (placed), all supervisors are attached to the tree, the last
host is told what to start, golaunch has passed on where the last rank is (joined), every
host knows every rank, and the first barrier is over.

- From 1,000 hosts on most of the time is golaunch's: it follows three messages of each
  rank until it has joined, one after the other. The tree does not help with that; more than one
  piece of news in a message would.
- Every host acknowledges by itself what all are told, once in 0.45 s (a 22nd of the failure
  timeout, here of its default, 10 s). For golaunch that is a tenth of its time with 100,000
  hosts, and nothing worth a word with 10,000.

### Arity

Time to the first barrier, by how many hosts attach to one:

{ARITY}

A tree with a small arity is deep, and every level starts a supervisor before the next one does:
20 ms each. One with a large arity has every host send what all are told more often. Between
them the curve is flat: 4 to 16 differ by less than the costs are known to. The launch
tree has {CHOSEN}: its depth is 6 for 100,000 hosts, and the loss of an inner host
has {CHOSEN} others attach elsewhere. In a star golaunch does everything by itself, and
sends everything once for every host.

### Traffic

Bytes that golaunch sends during a launch, and the host that sends most:

{TRAFFIC}

While ranks run, nothing is sent but what they print, and a beat on each link eleven times in
the failure timeout.

### Staging

A binary of 20 MB to all hosts, by the plan of launcher/internal/stage/spread: a chain up to 32 hosts,
beyond that every host passes on to two.

{STAGING}

## Gossip

Until a join and a death are known, and what a member sends and uses when nothing happens:

{NEWS}

News spread in about log(n) rounds: nothing happens here with more hosts. A death is told later
the more hosts there are because memberlist suspects for longer, with the logarithm of
their number. Traffic is another matter: members exchange all they know, the more the
more there are, while the interval grows with the logarithm only. At 100,000 hosts an exchange
is 21 MB, and takes six seconds of CPU if all of it is new.

**All at once.** When all members start at the same time, each sends on news of each. A member
sends so many packets a round and no more, so that takes time in proportion to their
number; all know all when it is over, or before:

{BOOT}

From about 10,000 hosts on exchanges of everything are quicker than that. Meanwhile an agent
places on the hosts that it knows.

**Slow hosts.** How many of the hosts that do not answer for so long, and then go on, are
taken for dead meanwhile (2,000 random schedules each):

{SLOW}

Who is stopped for less than the least suspicion never is. A slow host suspects others in turn;
that does them no harm, as they deny it within the time of a join above, and are suspected
for much longer. A job does not end because gossip takes a host for dead: the connection must
be lost, too.

## Where it stops

{LIMITS}

In the order of hosts, {RANKS} ranks on each. When all hosts boot at once, a member that all of them call
takes 128 exchanges at a time, and the others try again: give agents several to
` + "`--join`" + `.

## Beside measurements

All on one machine with two cores, which did other things as well (10 to 60 processes wanted
each of them). That costs time, and some CPU time. Predictions for one machine share its
two cores among all hosts.

How independent they are of the [costs](#what-single-steps-cost): the tree in one process is
another benchmark than those that its costs are from. The processes are the benchmark that
Supervisor, Rank, Front and Meet are from, with other numbers of hosts and ranks: what
they test is whether costs add up. Times of gossip are from no cost at all, but from
memberlist's settings and formulas; only how long it takes when all start at once is from
StateBytes, too. Of what idle members use, one row is the figure
that a cost was taken from, and is marked: it tests nothing.

{TREE}

{GOSSIP}

What does not match:

- Barriers of many hosts take up to twice the CPU. Ranks that wait look again and again before
  they sleep; with 100 of them on each core that takes time from those they wait for. That is
  the likely reason; with cores of their own they would not, so the prediction leaves it out.
- Times of joins include the newcomer's start and first exchange, which the prediction does not:
  with five members that is half.
- Bytes are those that memberlist writes. What is not among them: 42 bytes of headers for each of the
  four packets in a probe interval, and TLS's handshake in each exchange.
- 200 idle members shared the machine with other work, which makes CPU time dearer. On a quiet
  one, and for 40 s, a third of the time between two exchanges, those with the lan profile
  used 0.41 ms a second.
- Five idle agents, with everything that they use and every byte of a packet (BenchmarkAgents),
  take 0.22 % of a core, 16 MB and 0.5 kB a second each with the lan profile, and 0.36 %, 16 MB
  and 0.9 kB with the local one, on a quiet machine. While 10 to 40 others wanted it they took
  3 kB, since answers came late.
- When all start at once, all know all in half to two thirds of the time that the news take.

**Too little of a processor.** 200 members in one process, started at once while 10 to 60
other processes were preferred to it, had not met after twelve minutes. On the same
machine without the others they meet in 20 s. What makes the difference is the processor
time that the process gets:

| of one core, for 200 members | | told of the death of a member, though all live |
|---|---|---|
| 2 cores | all know all after 20 s | not counted |
| 0.5 | after 20 s | never |
| 0.35 | not after 140 s | 20,857 times |
| 0.25 | not after 140 s | 30,449 times |
| 0.2 | not after 180 s | 30,020 times |

Meeting takes each member 40 to 55 ms of CPU time, for 200 in 20 s 0.4 to 0.5 of a core. With less, probes
are not answered in time, members are suspected and cannot deny it in time, and their
deaths, and returns, are news that take still more. It does not end by itself. It is neither the
kernel's buffers nor a storm of exchanges nor encryption: of 9.8 million packets that the
machine took on the day of these measurements none was dropped; there is one exchange for each member;
of the CPU time reading the messages' MessagePack has a fifth, collecting garbage about as
much, system calls and decryption less than a tenth each. No setting is wrong for it: a host
that has less than 0.25 % of a core for its agent is ill. It matters to who plays many hosts
on one machine, and to measurements: joins of 50 members took 20 s instead of 0.6 s when such a
machine was busy.

## What single steps cost

CPU time of an AMD EPYC, two cores of a virtual machine; both ends of a link together.

{COSTS}

Not in the model: packets that are lost, switches that are full, a file system that all hosts
load the program from, and hosts that differ.
`
