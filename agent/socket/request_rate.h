/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many requests a second each user but root can make, averaged over
 * REQUEST_RATE_BURST_S.  Beyond that its clients wait; they get no error.  A request that takes long
 * counts as several, so that the requests of a user take a quarter of dartd's time at most.
 */
#ifndef REQUEST_RATE_H
#define REQUEST_RATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

/* As many requests as a process that registers 8,000 slices makes at once. */
#define REQUEST_RATE_BURST_S 10
#define REQUEST_RATE_DEFAULT 1000

struct request_rate_user {
	SLIST_ENTRY(request_rate_user) link;
	uid_t uid;
	int64_t full_at;	/* ns: the reserve is full again */
};

/* All zeros: without a limit. */
struct request_rates {
	SLIST_HEAD(, request_rate_user) users;
	int64_t cost;	/* ns of a request; 0: no limit */
};

/* From now on; 0 for the default. */
void request_rates__limit(struct request_rates *rates, uint32_t per_second);
void request_rates__close(struct request_rates *rates);

/*
 * Counts a request at @now, ns of a clock that does not go back.  Out of memory, no limit holds for
 * a user.
 */
void request_rates__count(struct request_rates *rates, uid_t uid, int64_t now);
/* The handling of that request took @took_ns. */
void request_rates__spend(struct request_rates *rates, uid_t uid, int64_t took_ns);
/* May this user make one more? */
bool request_rates__allow(const struct request_rates *rates, uid_t uid, int64_t now);

#endif /* REQUEST_RATE_H */
