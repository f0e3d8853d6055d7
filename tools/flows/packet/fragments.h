/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fragments follow their first one, which alone has ports (RFC 4787, REQ-14): they get the
 * addresses that it got.  A fragment that comes before the first one waits for it.  Firsts are
 * remembered, and fragments wait, for a bounded time, and in a bounded number: strangers can make
 * others be forgotten, but not take memory.  One source cannot: it loses its own firsts where
 * others are, and an eighth of all that wait are its own at most.
 */
#ifndef FLOWS_FRAGMENTS_H
#define FLOWS_FRAGMENTS_H

#include "packet.h"

#define FRAGMENTS_FIRSTS 4096
#define FRAGMENTS_HELD 256
#define FRAGMENTS_HELD_OF_SOURCE (FRAGMENTS_HELD / 8)
#define FRAGMENTS_FIRST_NS 10000000000ULL
#define FRAGMENTS_HELD_NS 2000000000ULL

/* What the fragments of a datagram have in common, as they arrive. */
struct fragments_key {
	address_t source, destination;
	uint32_t identification;
	uint8_t protocol; /* 0: of IPv6, whose fragments may name different ones */
};

struct fragments;

/* NULL: out of memory. */
struct fragments *fragments__new(void);
void fragments__free(struct fragments *fragments);
struct fragments_key fragments__key(const struct packet *packet);

/* The first fragment of a datagram leaves, as @packet; @key: as it arrived. */
void fragments__pass(struct fragments *fragments, const struct fragments_key *key,
		     const struct packet *packet, uint64_t now_ns);
/* It does not leave. */
void fragments__stop(struct fragments *fragments, const struct fragments_key *key);
/* After another policy came, no fragment follows a first one that passed before. */
void fragments__stop_all(struct fragments *fragments);
/* Gives a later fragment its addresses.  False if its first one is unknown. */
bool fragments__follow(const struct fragments *fragments, struct packet *packet, uint64_t now_ns);

/* Keeps a copy of a later fragment; false: there is no place for this source, or no memory. */
bool fragments__hold(struct fragments *fragments, const struct packet *packet, uint64_t now_ns);
/*
 * Calls @leave for each held fragment that can leave now, whose frame is gone after the call.
 * Returns the number of those that have waited in vain, which are gone, too.
 */
unsigned int fragments__release(struct fragments *fragments, uint64_t now_ns,
				void (*leave)(void *subject, struct packet *packet), void *subject);

#endif /* FLOWS_FRAGMENTS_H */
