// Package coherence decides which host may read or write a page of a coherent window,
// so that all ranks see one memory, sequentially consistent, though each host caches
// the pages it uses. It is a pure state machine: no memory, no clock, no wire. Package
// window/pager carries out what it says.
//
// # Protocol
//
// A page has a home, a host. At any time either one host may read and write the page
// (Modified), or any number may read it (Shared). The cache of each host knows what
// its ranks may do; the directory at the home knows who may have a copy.
//
//	          ReadFault             WriteFault
//	Invalid ------------> Reading    ------------> Writing
//	Reading --GrantRead-> Shared     WriteFault -> Upgrading
//	Writing, Upgrading --GrantWrite-> Modified
//
//	Shared    --Invalidate-> Invalid     Modified --Recall-> Invalid
//	Upgrading --Invalidate-> Writing     Modified --Fetch--> Shared
//
// A request (Read, Write, Upgrade) goes to the home. The home serves one request for a
// page at a time, and the others in the order of their arrival:
//
//  1. A Read needs the content: the home Fetches it, from its own copy if it has one,
//     else from the only owner, who goes on reading but writes no more.
//     A Write needs the content and everybody else's copy: the home Recalls one copy
//     with its content and Invalidates the others. An Upgrade needs no content.
//  2. The hosts acknowledge, when no rank of theirs reads (or writes) the page any more.
//  3. The home grants the request.
//
// The home's own cache is where the page is stored: whenever nobody may write, the home
// has a copy, which is never evicted. So the content that an owner gives up for a
// reader goes to the home too (Store). A page that nobody has touched is zero, and
// nobody has a copy of it.
//
// Evicting a copy that was only read is not told; evicting a written one is a WriteBack,
// and needs no answer. If it crosses a demand, the demand is acknowledged behind it,
// without content.
//
// # Orders
//
// What the pager has to do comes out of Step among the messages, in the order in which
// it must be done: an acknowledgement stands behind the Drop that it is about. In terms
// of package window/pager/uffd:
//
//	Fill          View.Fill of the view that faulted, or of any
//	FillWritable  the same, then View.Unprotect
//	Unprotect     View.Unprotect of the view that faulted; the others fault in their turn
//	Protect       View.Protect of every view
//	Save          copy Cache.Page to a staging slot
//	Drop          Cache.Punch, then View.Protect of every view
//	Discard       the same
//	Wake          View.Wake of every view
//
// Orders for different pages are independent, so that those of one kind can be carried
// out together, for ranges of pages, as long as each page's stay in order.
//
// # What is assumed
//
// Messages from one host to another arrive in the order in which they were sent, each
// once. Nothing is assumed about messages of different hosts. The cache and the
// directory of one host tell each other everything within one Step.
//
// # Progress
//
// A page that somebody waited for is held for a while after the grant, 50 to 200 us:
// demands are put off until HoldOver. Without that, hosts that fight over a page pass
// it on before the thread that faulted has come to its access. Every request is granted
// some day, if messages arrive and holds end: the queue is first come first served, and
// nothing that a host waits for depends on another page.
//
// # Failure
//
// Time comes in as messages. A host that has not heard of the job's root for T fences
// itself: its pager kills its ranks, and it says nothing any more. The root tells the
// others after 2T (HostDead), see [Lease] and [Watch]. From then on its copies are gone,
// its acknowledgements are given, and what still arrives from it is thrown away. If it
// was the only one that had a page's content, the page is Lost: an error for everybody
// who asks for it, never an older content. So are the pages whose home it was; copies
// of them that other hosts have stay usable until they are evicted.
//
// # Size
//
// Four bytes for each page that a host uses, eight more at its home, in chunks of 512
// pages that are made when the first of them is touched. Pages with a request under way
// have more.
//
// # Limits
//
// 63 hosts share a window at most. Pages are evicted in the order in which they came:
// the machine does not see accesses that hit. A page's home never changes.
//
// # Sources
//
// The protocol is the home-based, invalidating one of directory coherence (Censier and
// Feautrier 1978) as shared virtual memory has it (Li and Hudak 1989, the fixed
// distributed manager). docs/coherence.tla is its specification.
package coherence
