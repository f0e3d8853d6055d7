/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leases: memory that has left the table stays readable for LEASE_MS, because a controller may be
 * about to READ it.  Callers get as long for a handshake, a request and an answer.  Each struct
 * leases has a timer, armed while there is a lease.
 */
#ifndef LEASE_H
#define LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include <dart/control.h>

/*
 * 3.8 s: a controller begins READs in the first half, and they may be retransmitted
 * in the second.
 */
#define LEASE_MS (2 * (uint32_t)DART_CONTROL_RETRIES_MS)

/* For sentences, rounded up. */
#define LEASE_SECONDS ((LEASE_MS + 999) / 1000)

/* Embedded in the object on lease. */
struct lease {
	TAILQ_ENTRY(lease) link;
	void (*end)(struct lease *lease);
	uint64_t deadline;	/* us, CLOCK_BOOTTIME */
};

/* The object of @type whose member "lease" is @owned. */
#define lease__owner(owned, type)                                              \
	((type *)((char *)(owned) - offsetof(type, lease)))

struct leases {
	sd_event_source *timer;
	TAILQ_HEAD(lease_queue, lease) queue; /* by deadline */
};

int leases__open(struct leases *leases, sd_event *loop);
/* Ends all leases at once. */
void leases__close(struct leases *leases);
uint32_t leases__count(const struct leases *leases);

/* Calls @end, which may start further leases, LEASE_MS from now. */
void lease__start(struct leases *leases, struct lease *lease, void (*end)(struct lease *lease));
void lease__cancel(struct leases *leases, struct lease *lease);
/*
 * For @end: true if dartd calls it late, because dartd was busy or the host was suspended.  Then an
 * action that the peer took in time may still be unread.
 */
bool lease__is_late(const struct lease *lease);

#endif /* LEASE_H */
