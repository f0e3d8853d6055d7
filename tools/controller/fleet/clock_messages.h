/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Says in the log that the clock of a host is wrong, or right again, and that the clock of the
 * controller was set.  If the clock of the controller is wrong, those of 10,000 hosts seem wrong: a
 * message for each host would hide all other messages, so the log gets a few in a minute, and the
 * last one says so.  The metric dart_scrape_clock_off covers all hosts.
 */
#ifndef CONTROLLER_CLOCK_MESSAGES_H
#define CONTROLLER_CLOCK_MESSAGES_H

#include <pthread.h>

#include "tools/controller/decode/decoder.h"
#include "tools/controller/outputs/output.h"

/* Messages about hosts in a minute. */
#define CLOCK_MESSAGES_MAX 10

struct clock_messages {
	struct clock_listener listener; /* first: of all decoders */
	struct output *log; /* NULL: nothing is said */
	pthread_mutex_t lock; /* of the rest */
	int64_t wall_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC that was said last */
	uint64_t minute_ns; /* CLOCK_MONOTONIC: when the present minute began */
	unsigned int count; /* of messages in it */
};

/* @bound_ns: the largest offset that counts as right; 0: the default.  @log outlives it. */
void clock_messages__open(struct clock_messages *messages, uint64_t bound_ns, struct output *log);
/* No decoder uses it any more.  Zeros are allowed. */
void clock_messages__close(struct clock_messages *messages);

#endif /* CONTROLLER_CLOCK_MESSAGES_H */
