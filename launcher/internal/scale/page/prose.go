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
seconds, most of it golaunch's work with each rank's messages. Beyond that two things that
golaunch does are quadratic, and both can be mended: it sends the list of all hosts to
every host by itself, and every host acknowledges by itself what all are told. With
those mended, and the bound on ranks (65,536) raised, launches go on to some 35,000
hosts, where one agent can no longer ask all others in time. Gossip reaches 98,000 hosts,
where memberlist refuses what members exchange.

## Launching

*Mended* means that the list of hosts is sent once over each link, and that hosts merge
acknowledgements of those below them. Neither is done; *now* is how it is.

{PHASES}

Until all slots are reserved (placed), all supervisors are attached to the tree, the last
host is told what to start, golaunch has passed on where the last rank is (joined), every
host knows every rank, and the first barrier is over.

- From 1,000 hosts on most of the time is golaunch's: it follows three messages of each
  rank until it has joined, one after the other. The tree does not help with that; more than one
  piece of news in a message would.
- *At worst*: each record that all are told is acknowledged by every host, which golaunch must
  read. Where records are less than 1 ms apart, one acknowledgement stands for several, and
  it is better.

### Arity

Time to the first barrier, mended, by how many hosts attach to one:

{ARITY}

A tree with a small arity is deep, and every level starts a supervisor before the next one does:
20 ms each. One with a large arity has every host send what all are told more often. Between
them the curve is flat: 4 to 16 differ by less than the costs are known to. The launch
tree has {CHOSEN}: its depth is 6 for 100,000 hosts, and the loss of an inner host
has {CHOSEN} others attach elsewhere. In a star golaunch does everything by itself, and
sends everything once for every host; nobody is there to merge acknowledgements.

### Traffic

Bytes that golaunch sends during a launch, and the host that sends most, mended:

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
two cores among all hosts. Nothing in these tables is what a cost was taken from.

{TREE}

{GOSSIP}

What does not match:

- Barriers of 50 hosts take twice the CPU. Ranks that wait look again and again before they
  sleep; with 100 of them on each core that takes time from those they wait for. That is
  the likely reason; with cores of their own they would not, so the prediction leaves it out.
- The barrier of 200 hosts failed: a rank that had left already was taken for failed by one that
  still waited. There is no figure.
- 200 hosts, which are 600 processes, took twice the CPU and eight times as long as
  predicted, at the machine's busiest. How much is the machine's and how much the model
  lacks is not known: take what is said of many hosts on one machine with care.
- Times of joins include the newcomer's start and first exchange, which the prediction does not:
  with five members that is half.
- Bytes of 50 idle members with the lan profile are those of 40 s, in which not everybody has
  one of the exchanges that it starts once a minute.
- Of 200 members with the local profile there is no figure: on this machine they had not found
  each other after five minutes. Of members that all start at once, 50 knew a newcomer after
  2 s instead of 0.6 s, and 200 had not met after twelve minutes. Why is not known: that
  they suspect each other while it is so busy is likely, and not shown.

## What single steps cost

CPU time of an AMD EPYC, two cores of a virtual machine; both ends of a link together.

{COSTS}

Not in the model: packets that are lost, switches that are full, a file system that all hosts
load the program from, and hosts that differ.
`
