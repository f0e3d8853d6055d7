/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks up keys in the stores of hosts, by READ, for the page.  A lookup blocks for up to ten
 * seconds.  So the desk has threads, which do the lookups of each host one after the other, and the
 * page's answer is a stream that waits for a thread.  A lookup waits for other hosts only while each
 * thread asks a host that does not answer.
 */
#ifndef CONTROLLER_LOOKUP_H
#define CONTROLLER_LOOKUP_H

#include <libdart/key/key_schema.h>
#include <libdart/store/store_query.h>

#include "tools/controller/http/http_server.h"

#define LOOKUP_THREADS 4
/* Limits of waiting lookups, of all hosts and of a single one; further ones are refused. */
#define LOOKUPS_MAX 16
#define LOOKUPS_HOST_MAX 4

struct lookup_question {
	char *host; /* allocated */
	uint16_t port;
	char *store; /* allocated */
	const struct dart_key_schema *schema; /* outlives the desk */
	uint8_t key[DART_STORE_KEY_MAX];
	int key_length;
	struct dart_store_rule rule;
};

/* Frees the texts. */
void lookup_question__clear(struct lookup_question *question);

struct lookup_desk;

/* Returns NULL if out of memory or threads. */
struct lookup_desk *lookup_desk__new(void);
/* Waits for the lookups in progress.  Call this after all streams have ended.  @desk may be NULL. */
void lookup_desk__free(struct lookup_desk *desk);

/*
 * Makes the data of a stream that answers in JSON: {"outcome": "found", "empty" or "ambiguous",
 * "matches", "agreeing", "redundancy", "slots", "value_bytes", "checksum_bits", "value": see
 * dart_key_schema__value(), "filling": {"written": written part of the sampled slots, "load": keys
 * for each slot, "found": part of all keys that are found, "oldest_found": part of the oldest
 * keys}}, or {"error": SENTENCE}.  Takes @question in any case.  Returns NULL if out of memory.
 */
void *lookup__new(struct lookup_desk *desk, struct lookup_question *question);
extern const struct http_stream_operations lookup__operations;

#endif /* CONTROLLER_LOOKUP_H */
