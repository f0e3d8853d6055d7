/* SPDX-License-Identifier: GPL-2.0-only */
/* What a receiver's answer means: pure functions. */
#ifndef CONTROLLER_ANSWER_H
#define CONTROLLER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/random.h>

#include "message.h"

#define ANSWER_TEXT_MAX 200

struct answer {
	bool is_one;		/* an HTTP response arrived */
	long status;		/* of HTTP */
	uint64_t retry_after_ns; /* the header of that name; 0: none */
	/* Has a header X-Prometheus-Remote-Write-...-Written, as receivers of 2.0 must. */
	bool has_written;
	char text[ANSWER_TEXT_MAX]; /* why there is none, or the first line of its body */
};

enum verdict {
	VERDICT_DONE,		/* the message was taken */
	VERDICT_AGAIN,		/* the same message, later */
	VERDICT_REFUSED,	/* this message will never be taken */
	VERDICT_OLDER,		/* the receiver takes only remote write 1.0 */
};

/*
 * As the specifications of remote write say: 2xx is success; 429, 5xx and no answer call for
 * another attempt; all else must not be tried again.  InfluxDB uses the same numbers.
 *
 * @may_be_older: the message is 2.0, none has been taken so far, and 1.0 is allowed.  Then 415
 * calls for 1.0, and so do 2xx and 400 without the headers of 2.0: receivers of 1.0 that do
 * not look at the type of a message find an empty one in it, or none.
 */
enum verdict answer__judge(const struct answer *answer, bool may_be_older);

/*
 * How long to wait before attempt @attempts, from 1 on: 100 ms, doubled each time up to 30 s,
 * between half and all of it at random, so that many controllers do not come back at once;
 * and as long as the receiver says, up to 5 min.
 */
#define ANSWER_BACKOFF_MIN_NS	100000000ULL
#define ANSWER_BACKOFF_MAX_NS	30000000000ULL
#define ANSWER_RETRY_AFTER_MAX_NS	300000000000ULL
uint64_t answer__backoff_ns(const struct answer *answer, unsigned int attempts,
			    struct dart_random *random);

#endif /* CONTROLLER_ANSWER_H */
