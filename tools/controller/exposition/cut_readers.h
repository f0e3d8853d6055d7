/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Logs readers of pages that were cut off, so that an operator finds the peer that gets no values
 * by its address.  It logs each address once an hour, with the number of its readers since the last
 * message.  If more than CUT_ADDRESSES_MAX addresses come within an hour, the rest share one entry.
 */
#ifndef CONTROLLER_CUT_READERS_H
#define CONTROLLER_CUT_READERS_H

#include <pthread.h>
#include <stdint.h>

#include "tools/controller/http/http_request.h"
#include "tools/controller/outputs/output.h"

#define CUT_ADDRESSES_MAX 64

enum cut_reason {
	CUT_FOR_MEMORY, /* the chunks reached their bound, and the reader was the slowest */
	CUT_FOR_SILENCE, /* the peer took nothing for HTTP_IDLE_SECONDS */
	CUT_REASONS,
};

struct cut_address {
	char text[HTTP_ADDRESS_TEXT_MAX]; /* "": free */
	uint64_t until_ns; /* CLOCK_MONOTONIC: earliest time of the next message */
	uint64_t readers; /* readers since the last message */
};

struct cut_readers {
	struct output *log; /* NULL: no messages */
	pthread_mutex_t lock; /* protects all below */
	struct cut_address addresses[CUT_ADDRESSES_MAX];
	struct cut_address further; /* all other addresses */
};

/* @log must outlive @readers; NULL suppresses the messages. */
void cut_readers__init(struct cut_readers *readers, struct output *log);
void cut_readers__clear(struct cut_readers *readers);

/* In any thread: a reader at @address was cut off at @now_ns of CLOCK_MONOTONIC. */
void cut_readers__add(struct cut_readers *readers, const char *address, enum cut_reason reason,
		      uint64_t now_ns);

/* The value of a label: "memory" or "silence". */
const char *cut_reason__name(enum cut_reason reason);

#endif /* CONTROLLER_CUT_READERS_H */
