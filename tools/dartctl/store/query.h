/* SPDX-License-Identifier: GPL-2.0-only */
/* A query of the command line, and how one collector is asked. */
#ifndef QUERY_H
#define QUERY_H

#include <libdart/error.h>
#include <libdart/key/key_schema.h>
#include <libdart/store/store_query.h>

#include "epochs.h"

struct query {
	const char *store;
	const char *schema_name;
	struct dart_key_schema *schema;
	const char *from; /* NULL: dartd of this host, or the collectors of @shares */
	const char *shares; /* a file of shares, or NULL */
	/* ns since 1970; 0: not given */
	uint64_t at_ns, since_ns, until_ns;
	const char *texts[DART_KEY_FIELDS_MAX]; /* of the fields of the key */
	struct dart_store_rule rule;
	uint8_t key[DART_STORE_KEY_MAX];
	int key_length;
};

/* What one collector has for the key at present. */
struct query_reply {
	struct dart_store_geometry geometry;
	struct dart_store_answer found;
};

static inline bool query__is_of_past(const struct query *query)
{
	return query->at_ns || query->since_ns || query->until_ns;
}

/* Refuses a query that does not fit the store: 0, or -EINVAL with a sentence in @error. */
int query__check(const struct query *query, const struct dart_store_geometry *geometry,
		 struct dart_error *error);
/* Asks @from, "HOST" or "HOST:PORT"; returns 0, or -errno with a sentence in @error. */
int query__ask_there(const struct query *query, const char *from, struct query_reply *reply,
		     struct dart_error *error);
/* Prints the reply of @collector, NULL for this host; returns an exit status. */
int query__print(const struct query *query, const struct options *options,
		 const struct query_reply *reply, const char *collector);
/* The question for the epochs of @from, NULL for this host, in this time, ns since 1970. */
struct epochs_question query__of_epochs(const struct query *query, const char *from,
					uint64_t since_ns, uint64_t until_ns);

/*
 * Asks the collector that has the share of the key, and those that had it before: for the present
 * until one of them has a value, for the past each for its time.  Prints the answer; returns an exit
 * status.
 */
int query__ask_owners(const struct query *query, const struct options *options);

#endif /* QUERY_H */
