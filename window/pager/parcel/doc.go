// Package parcel is what the pagers of two hosts say to each other, in messages of at
// most 4 KiB: pure encodings, without a socket. Pages do not travel in parcels: they
// are put into the receiver's slots ahead of the parcel that tells of them.
//
//	Slots     where the sender may be put pages
//	Messages  of the protocol (window/coherence), for one window, in order
//	Pulse     a sign of life (coherence.Lease)
//	Return    nothing but what is given back
//
// Every parcel gives back: slots that were emptied, and parcels that were dealt with.
// Decoders trust nothing: [Parse] is fuzzed.
package parcel
