----------------------------- MODULE coherence -----------------------------
(* The protocol of package window/coherence, for one page: single writer or   *)
(* many readers, a directory at the page's home, queueing, holds, evictions   *)
(* and prefetches. (Pages are independent of each other, but for eviction,    *)
(* which may happen here at any time, and for holds that are prolonged, which *)
(* here may end at any time.) Not in here: first touch and the death of hosts.*)
(*                                                                            *)
(* A test of the package reads this file and evaluates its actions. It        *)
(* compares every state and every step of this specification with those of    *)
(* the Go code for two hosts, and traces of the Go code for three and four.   *)
(*                                                                            *)
(* TLC has not been run on it. How to:                                        *)
(*   java -cp tla2tools.jar tlc2.TLC -config coherence.cfg coherence          *)

EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Hosts, Home

VARIABLES cache,   \* what each host may do, has asked for, and has been asked for
          memory,  \* each host's copy: "hole", "fresh" (what was written last) or "stale"
          dir,     \* the directory, at the home
          net      \* net[g][h]: what g has sent to h, in order

vars == <<cache, memory, dir, net>>

States == {"Invalid", "Reading", "Writing", "Shared", "Upgrading", "Modified"}
Readable(c) == c.state \in {"Shared", "Upgrading", "Modified"}
Pending(c)  == c.state \in {"Reading", "Writing", "Upgrading"}

Message(kind, data) == [kind |-> kind, data |-> data]
Idle == [busy |-> FALSE, by |-> [kind |-> "none", host |-> Home],
         awaited |-> {}, data |-> "none", queue |-> <<>>]

Init ==
  /\ cache = [h \in Hosts |-> [state |-> "Invalid", wanted |-> FALSE, held |-> FALSE, demand |-> "none"]]
  /\ memory = [h \in Hosts |-> "hole"]
  /\ dir = [sharers |-> {}, serving |-> Idle]
  /\ net = [g \in Hosts |-> [h \in Hosts |-> <<>>]]

-----------------------------------------------------------------------------
(* What the home does within one step: c and m are its own cache and memory,  *)
(* s the sharers, t what it serves, out what it sends.                        *)

Begin == [c |-> cache[Home], m |-> memory[Home], s |-> dir.sharers, t |-> dir.serving, out |-> <<>>]

Send(d, h, msg) == [d EXCEPT !.out = Append(@, [to |-> h, msg |-> msg])]

RECURSIVE Sent(_, _)
Sent(n, out) ==
  IF out = <<>> THEN n
  ELSE Sent([n EXCEPT ![Home][Head(out).to] = Append(@, Head(out).msg)], Tail(out))

Commit(d, n) ==
  /\ cache' = [cache EXCEPT ![Home] = d.c]
  /\ memory' = [memory EXCEPT ![Home] = d.m]
  /\ dir' = [sharers |-> d.s, serving |-> d.t]
  /\ net' = Sent(n, d.out)

(* A cache that is granted something for which somebody waits holds it. *)
Granted(c, state) == [c EXCEPT !.state = state, !.held = @ \/ c.wanted, !.wanted = FALSE]

Filled(m, data) == IF data = "none" THEN m ELSE data

GrantTo(d, h, kind, data) ==
  IF h # Home THEN Send(d, h, Message(kind, data))
  ELSE [d EXCEPT !.c = Granted(@, IF kind = "GrantRead" THEN "Shared" ELSE "Modified"), !.m = Filled(@, data)]

(* What is left of a copy that is given up. *)
GivenUp(c) == [c EXCEPT !.state = IF @ = "Upgrading" THEN "Writing" ELSE "Invalid", !.demand = "none"]

(* The home does to its own copy what it demands. *)
DoHere(d, kind) ==
  IF kind = "Fetch"
  THEN [d EXCEPT !.c.state = IF @ = "Modified" THEN "Shared" ELSE @, !.c.demand = "none", !.t.data = d.m, !.t.awaited = @ \ {Home}]
  ELSE [d EXCEPT !.c = GivenUp(@), !.m = "hole", !.s = @ \ {Home}, !.t.awaited = @ \ {Home},
                 !.t.data = IF kind = "Recall" THEN d.m ELSE @]

MustWait(c, kind) == c.held /\ ~(kind = "Fetch" /\ c.state # "Modified")

Ask(d, h, kind) ==
  LET a == [d EXCEPT !.t.awaited = @ \cup {h}]
  IN  IF h # Home THEN Send(a, h, Message(kind, "none"))
      ELSE IF MustWait(d.c, kind) THEN [a EXCEPT !.c.demand = kind]
      ELSE DoHere(a, kind)

RECURSIVE AskAll(_, _, _)
AskAll(d, hs, kind) ==
  IF hs = {} THEN d
  ELSE LET h == CHOOSE x \in hs : TRUE IN AskAll(Ask(d, h, kind), hs \ {h}, kind)

Source(s) == IF Home \in s THEN Home ELSE CHOOSE h \in s : TRUE

Revoke(d) ==
  LET s     == IF d.t.by.kind = "Write" THEN d.s \ {d.t.by.host} ELSE d.s
      e     == [d EXCEPT !.s = s]
      rest  == s \ {d.t.by.host}
      from  == Source(rest)
  IN  IF d.t.by.host \in s THEN AskAll(e, rest, "Invalidate")
      ELSE AskAll(Ask(e, from, "Recall"), rest \ {from}, "Invalidate")

Demand(d) ==
  IF d.s = {} THEN [d EXCEPT !.t.data = "fresh"]   \* nobody has touched the page: zeros
  ELSE IF d.t.by.kind = "Read" THEN Ask(d, Source(d.s), "Fetch")
  ELSE Revoke(d)

(* The home gets its copy back when a writer has had to give the content up. *)
HomesRequest(q) == {i \in 1..Len(q) : q[i].host = Home}

Without(q, i) == SubSeq(q, 1, i - 1) \o SubSeq(q, i + 1, Len(q))

Restore(d, data) ==
  LET mine == HomesRequest(d.t.queue)
      i    == CHOOSE x \in mine : TRUE
  IN  IF mine = {} THEN [d EXCEPT !.c.state = "Shared", !.m = data]
      ELSE IF d.t.queue[i].kind = "Read" THEN GrantTo([d EXCEPT !.t.queue = Without(@, i)], Home, "GrantRead", data)
      ELSE [d EXCEPT !.c.state = "Upgrading", !.m = data, !.t.queue[i].kind = "Upgrade"]

Finish(d) ==
  LET h    == d.t.by.host
      data == d.t.data
      e    == [d EXCEPT !.t.data = "none"]
  IN  IF d.t.by.kind = "Read"
      THEN LET g == GrantTo(e, h, "GrantRead", data)
               r == IF Home \in d.s \/ h = Home THEN g ELSE Restore(g, data)
           IN  [r EXCEPT !.s = @ \cup {h, Home}]
      ELSE [GrantTo(e, h, "GrantWrite", data) EXCEPT !.s = {h}]

RECURSIVE Serve(_)
RECURSIVE Proceed(_)
Serve(d) == Proceed(Demand(d))
Proceed(d) ==
  IF d.t.awaited # {} THEN d
  ELSE LET f == Finish(d)
       IN  IF f.t.queue = <<>> THEN [f EXCEPT !.t = Idle]
           ELSE Serve([f EXCEPT !.t.by = Head(f.t.queue), !.t.queue = Tail(@)])

Request(d, kind, h) ==
  IF d.t.busy THEN [d EXCEPT !.t.queue = Append(@, [kind |-> kind, host |-> h])]
  ELSE Serve([d EXCEPT !.t.busy = TRUE, !.t.by = [kind |-> kind, host |-> h]])

WrittenBack(d, h, data) ==
  IF d.t.busy THEN [d EXCEPT !.s = @ \ {h}, !.t.data = data]
  ELSE [d EXCEPT !.s = {Home}, !.c.state = "Shared", !.m = data]

Acknowledged(d, h, msg) ==
  Proceed([d EXCEPT !.t.awaited = @ \ {h},
                    !.t.data = IF msg.data = "none" THEN @ ELSE msg.data,
                    !.s = IF msg.kind = "InvalidateAck" THEN @ \ {h} ELSE @])

AtHome(d, h, msg) ==
  CASE msg.kind \in {"Read", "Write", "Upgrade"}      -> Request(d, msg.kind, h)
    [] msg.kind \in {"InvalidateAck", "FetchAck"}     -> Acknowledged(d, h, msg)
    [] msg.kind = "WriteBack"                         -> WrittenBack(d, h, msg.data)

-----------------------------------------------------------------------------
(* What happens at a host.                                                    *)

Ready(h, c, kind) ==   \* h's cache becomes c, and asks the home
  IF h = Home THEN Commit(Request([Begin EXCEPT !.c = c], kind, Home), net)
  ELSE /\ cache' = [cache EXCEPT ![h] = c]
       /\ net' = [net EXCEPT ![h][Home] = Append(@, Message(kind, "none"))]
       /\ UNCHANGED <<memory, dir>>

Join(h) ==
  /\ cache' = [cache EXCEPT ![h].wanted = TRUE]
  /\ UNCHANGED <<memory, dir, net>>

Fault(h, waits, write) ==
  LET c == cache[h]
      w == [c EXCEPT !.wanted = @ \/ waits]
  IN  \/ c.state = "Invalid" /\ ~write /\ Ready(h, [w EXCEPT !.state = "Reading"], "Read")
      \/ c.state = "Invalid" /\ write  /\ Ready(h, [w EXCEPT !.state = "Writing"], "Write")
      \/ c.state = "Shared"  /\ write  /\ Ready(h, [w EXCEPT !.state = "Upgrading"], "Upgrade")
      \/ waits /\ (c.state \in {"Reading", "Writing"} \/ (c.state = "Upgrading" /\ write)) /\ Join(h)

Evict(h) ==
  /\ h # Home /\ ~cache[h].held
  /\ cache[h].state \in {"Shared", "Modified"}
  /\ cache' = [cache EXCEPT ![h].state = "Invalid"]
  /\ memory' = [memory EXCEPT ![h] = "hole"]
  /\ net' = IF cache[h].state = "Shared" THEN net
            ELSE [net EXCEPT ![h][Home] = Append(@, Message("WriteBack", memory[h]))]
  /\ UNCHANGED dir

Older(v) == IF v = "fresh" THEN "stale" ELSE v

Store(h) ==   \* a rank of h writes the page
  /\ cache[h].state = "Modified"
  /\ cache' = cache
  /\ memory' = [g \in Hosts |-> IF g = h THEN "fresh" ELSE Older(memory[g])]
  /\ dir' = [dir EXCEPT !.serving.data = Older(@)]
  /\ net' = [f \in Hosts |-> [g \in Hosts |->
               [i \in 1..Len(net[f][g]) |-> [net[f][g][i] EXCEPT !.data = Older(@)]]]]

(* A host other than the home obeys a demand. n is the net without it. *)
Obey(h, c, kind, n) ==
  LET data == IF kind = "Invalidate" \/ ~Readable(c) THEN "none" ELSE memory[h]
      ack  == Message(IF kind = "Fetch" THEN "FetchAck" ELSE "InvalidateAck", data)
  IN  /\ net' = [n EXCEPT ![h][Home] = Append(@, ack)]
      /\ cache' = [cache EXCEPT ![h] = IF ~Readable(c) THEN c
                                       ELSE IF kind = "Fetch" THEN [c EXCEPT !.state = "Shared", !.demand = "none"]
                                       ELSE GivenUp(c)]
      /\ memory' = [memory EXCEPT ![h] = IF kind = "Fetch" THEN @ ELSE "hole"]
      /\ UNCHANGED dir

HoldOver(h) ==
  LET c == [cache[h] EXCEPT !.held = FALSE]
  IN  /\ cache[h].held
      /\ IF c.demand = "none" THEN cache' = [cache EXCEPT ![h] = c] /\ UNCHANGED <<memory, dir, net>>
         ELSE IF h = Home THEN Commit(Proceed(DoHere([Begin EXCEPT !.c = c], c.demand)), net)
         ELSE Obey(h, c, c.demand, net)

Receive(g, h) ==
  LET msg == Head(net[g][h])
      n   == [net EXCEPT ![g][h] = Tail(@)]
      c   == cache[h]
  IN  /\ net[g][h] # <<>>
      /\ IF h = Home THEN Commit(AtHome(Begin, g, msg), n)
         ELSE IF msg.kind \in {"GrantRead", "GrantWrite"} THEN
              /\ cache' = [cache EXCEPT ![h] = Granted(c, IF msg.kind = "GrantRead" THEN "Shared" ELSE "Modified")]
              /\ memory' = [memory EXCEPT ![h] = Filled(@, msg.data)]
              /\ net' = n
              /\ UNCHANGED dir
         ELSE IF Readable(c) /\ MustWait(c, msg.kind) THEN
              /\ cache' = [cache EXCEPT ![h].demand = msg.kind]
              /\ net' = n
              /\ UNCHANGED <<memory, dir>>
         ELSE Obey(h, c, msg.kind, n)

Next ==
  \/ \E h \in Hosts : \E waits \in BOOLEAN : \E write \in BOOLEAN : Fault(h, waits, write)
  \/ \E h \in Hosts : Evict(h) \/ Store(h) \/ HoldOver(h)
  \/ \E g \in Hosts : \E h \in Hosts : Receive(g, h)

Spec == Init /\ [][Next]_vars
             /\ \A h \in Hosts : WF_vars(HoldOver(h))
             /\ \A g \in Hosts : \A h \in Hosts : WF_vars(Receive(g, h))

-----------------------------------------------------------------------------
(* Safety.                                                                    *)

OneWriter == \A h \in Hosts : cache[h].state = "Modified" => \A g \in Hosts \ {h} : memory[g] = "hole"

NoStaleCopy == \A h \in Hosts : memory[h] # "stale" /\ ((memory[h] # "hole") <=> Readable(cache[h]))

DirectoryCovers == \A h \in Hosts : memory[h] # "hole" => h \in dir.sharers

HomeStores == \/ dir.serving.busy \/ dir.sharers = {} \/ Home \in dir.sharers
              \/ Cardinality(dir.sharers) = 1

HoldsHaveCopies == \A h \in Hosts : /\ cache[h].held => Readable(cache[h])
                                    /\ cache[h].demand # "none" => cache[h].held

Quiet == /\ \A g \in Hosts : \A h \in Hosts : net[g][h] = <<>>
         /\ \A h \in Hosts : ~cache[h].held

NoDeadlock == Quiet => ~dir.serving.busy /\ \A h \in Hosts : ~Pending(cache[h])

Safe == OneWriter /\ NoStaleCopy /\ DirectoryCovers /\ HomeStores /\ HoldsHaveCopies /\ NoDeadlock

(* Liveness. *)
Granting == \A h \in Hosts : Pending(cache[h]) ~> ~Pending(cache[h])
=============================================================================
