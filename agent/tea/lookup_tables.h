/* SPDX-License-Identifier: GPL-2.0-only */
/* All lookup tables of this server. */
#ifndef LOOKUP_TABLES_H
#define LOOKUP_TABLES_H

#include "agent/base/request.h"
#include "agent/base/peer_kind.h"
#include "lookup_table.h"
#include "requester.h"

struct lookup_tables {
	struct remote_objects objects; /* the first member: the subject of requests and readers */
	uint64_t *renewal_count; /* of the queue pairs of requesters */
	uint32_t last_epoch;	/* of all tables, 0 before the first */
};

/* Lookup tables as remote objects; their peers are the requesters. */
extern const struct remote_kind table_kind;

/* See remote_objects__add(). */
int lookup_tables__create(struct lookup_tables *tables, const char *name,
			  const struct table_parameters *parameters, struct remote_origin *origin,
			  struct lookup_table **table, struct dart_error *error);

/* These announce and count it. */
int lookup_tables__add_requester(struct lookup_tables *tables, struct lookup_table *table,
				 struct in_addr address, struct requester **requester,
				 struct dart_error *error);
int lookup_tables__renew_requester(struct lookup_tables *tables, struct lookup_table *table,
				   struct requester *requester, struct dart_error *error);

/* Requests about tables and requesters; the subject is the objects of struct lookup_tables. */
extern const struct request_type tables_requests[];

/* Offers the table that a reader names; the subject is the objects of struct lookup_tables. */
extern const struct peer_kind table_reader_kind;

#endif /* LOOKUP_TABLES_H */
