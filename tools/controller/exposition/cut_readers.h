/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readers of pages that were cut off, in the log: a peer that gets no values any more must be found
 * by its address.  Once an hour for each address, with the number of its readers since; of further
 * addresses, if these are more than CUT_ADDRESSES_MAX within an hour, once for all of them.
 */
#ifndef CONTROLLER_CUT_READERS_H
#define CONTROLLER_CUT_READERS_H

#include <pthread.h>
#include <stdint.h>

#include "tools/controller/http/http_request.h"
#include "tools/controller/outputs/output.h"

#define CUT_ADDRESSES_MAX 64

enum cut_reason {
	CUT_FOR_MEMORY, /* others wait, and it was the slowest */
	CUT_FOR_SILENCE, /* it took nothing for HTTP_IDLE_SECONDS */
	CUT_REASONS,
};

struct cut_address {
	char text[HTTP_ADDRESS_TEXT_MAX]; /* "": free */
	uint64_t until_ns; /* CLOCK_MONOTONIC: nothing is said before */
	uint64_t readers; /* that were not said */
};

struct cut_readers {
	struct output *log; /* NULL: nothing is said */
	pthread_mutex_t lock; /* of all below */
	struct cut_address addresses[CUT_ADDRESSES_MAX];
	struct cut_address further;
};

/* @log outlives it; NULL: nothing is said. */
void cut_readers__init(struct cut_readers *readers, struct output *log);
void cut_readers__clear(struct cut_readers *readers);

/* In any thread: one at @address was cut off at @now_ns of CLOCK_MONOTONIC. */
void cut_readers__add(struct cut_readers *readers, const char *address, enum cut_reason reason,
		      uint64_t now_ns);

/* "memory", "silence": values of a label. */
const char *cut_reason__name(enum cut_reason reason);

#endif /* CONTROLLER_CUT_READERS_H */
