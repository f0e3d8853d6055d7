/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples that a receiver has refused, by host and reason; and the series and hosts that are
 * sent by themselves for a while, so that another refusal costs no other sample and no search.
 */
#ifndef CONTROLLER_REFUSALS_H
#define CONTROLLER_REFUSALS_H

#include <pthread.h>

#include "tools/controller/push/formats/answer.h"
#include "tools/controller/push/formats/pieces.h"
#include "tools/controller/settings/settings.h"

/* Why, as far as the answer's status and text say so. */
enum refusal_reason {
	REFUSAL_OUT_OF_BOUNDS, /* time too far from the receiver's, in the future mostly */
	REFUSAL_TOO_OLD,
	REFUSAL_OUT_OF_ORDER,
	REFUSAL_DUPLICATE, /* another value at the same time */
	REFUSAL_LIMIT, /* of series, labels, or their length */
	REFUSAL_CONFLICT, /* of types, in InfluxDB */
	REFUSAL_VERSION, /* 2.0 was not taken as 2.0 */
	REFUSAL_PARTLY, /* points of a message that was taken, for a reason in words */
	REFUSAL_DAMAGED, /* it was no message any more */
	REFUSAL_STATUS, /* another reason, of which only the status is known */
	REFUSAL_COUNT,
};

/* So many refused series in a row set the whole host apart: no search among the others. */
#define REFUSAL_SERIES_IN_ROW 4U
/* Afterwards they are sent together with others again. */
#define REFUSAL_APART_NS 600000000000ULL
/* A reason is said again after it. */
#define REFUSAL_TOLD_NS 3600000000000ULL
/* Further hosts are counted together, as "". */
#define REFUSAL_HOSTS_MAX SETTINGS_TARGETS_MAX
/* Series that are sent apart, a power of 2. */
#define REFUSAL_SERIES_MAX 4096U

/* A host; and another entry of it for each status that is a reason by itself. */
struct refusal_host {
	uint64_t hash; /* of name and status */
	char *name;
	uint64_t samples[REFUSAL_COUNT];
	long status; /* of REFUSAL_STATUS; 0: of the other reasons */
	unsigned int in_row; /* refused series since the last accepted one */
	uint64_t apart_ns; /* CLOCK_MONOTONIC until when all of it is; 0: it is not */
};

struct refusal_series {
	uint64_t hash;
	uint64_t apart_ns; /* 0: free */
};

struct refusals {
	pthread_mutex_t lock; /* of hosts: they change in the thread, and are read in others */
	struct refusal_host *hosts;
	size_t count, room;
	/* Of the thread. */
	struct refusal_series series[REFUSAL_SERIES_MAX]; /* by hash */
	size_t hosts_apart;
	uint64_t apart_until_ns; /* of all hosts and series */
	uint64_t told_ns[REFUSAL_COUNT]; /* 0: not yet */
	uint64_t samples[REFUSAL_COUNT];
};

void refusals__open(struct refusals *refusals);
void refusals__close(struct refusals *refusals);

#define REFUSAL_NAME_MAX 24
/* "out_of_bounds", or "status_403": the value of a label. */
void refusal_reason__name(enum refusal_reason reason, long status, char name[REFUSAL_NAME_MAX]);
/* Status 0: no receiver was asked, as the message is damaged. */
enum refusal_reason refusal_reason__of(const struct answer *answer);

/*
 * The samples of @message are refused with @answer, but for @taken; @pieces is NULL if they are not
 * known.  Returns the name of one of the hosts, or "".
 */
const char *refusals__count_message(struct refusals *refusals, const struct message *message,
				    const struct pieces *pieces, const struct answer *answer,
				    uint64_t taken);
/* Is it time to say it? */
bool refusals__is_to_say(struct refusals *refusals, enum refusal_reason reason, uint64_t now_ns);

/* A series was refused alone. */
void refusals__set_apart(struct refusals *refusals, const char *host, uint64_t series,
			 uint64_t now_ns);
/* @message was taken: its hosts and series, if they were refused before, are not apart any more. */
void refusals__take(struct refusals *refusals, const struct message *message);
/* Has the message, which was refused, pieces that may be taken, and are worth a request? */
bool refusals__is_to_split(struct refusals *refusals, const struct message *message,
			   const struct pieces *pieces, uint64_t now_ns);
/* Are all series of the host sent apart, after REFUSAL_SERIES_IN_ROW refusals? */
bool refusals__is_host_apart(struct refusals *refusals, const char *host, uint64_t now_ns);
bool refusals__are_any_apart(const struct refusals *refusals, uint64_t now_ns);
bool refusals__is_series_apart(const struct refusals *refusals, uint64_t hash, uint64_t now_ns);

/* In any thread: calls @call for each host and reason with samples. */
void refusals__each(struct refusals *refusals,
		    void (*call)(void *data, const char *host, const char *reason,
				 uint64_t samples),
		    void *data);

#endif /* CONTROLLER_REFUSALS_H */
