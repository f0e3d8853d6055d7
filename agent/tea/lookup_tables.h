/* SPDX-License-Identifier: GPL-2.0-only */
/* All lookup tables of this server. */
#ifndef LOOKUP_TABLES_H
#define LOOKUP_TABLES_H

#include "agent/base/request.h"
#include "agent/rdma/remote_objects.h"
#include "table_kept.h"

struct lookup_tables {
	struct remote_objects objects;
	struct lookup_counts *counts;
	uint32_t last_epoch;	/* of all tables, 0 before the first */
	TAILQ_HEAD(, lookup_table) list;
};

/* Copies @objects, whose kept memory is called TABLE_NOUN. */
void lookup_tables__open(struct lookup_tables *tables, const struct remote_objects *objects,
			 struct lookup_counts *counts);
void lookup_tables__close(struct lookup_tables *tables);

/* lookup_table__detach() and lookup_table__attach() for all lookup tables. */
void lookup_tables__detach(struct lookup_tables *tables);
int lookup_tables__attach(struct lookup_tables *tables, struct dart_error *error);

/*
 * See lookup_table__new().  If the service manager keeps the memory of a table with this name and
 * these parameters, sets @origin->kept: the table gets these bytes.
 */
int lookup_tables__create(struct lookup_tables *tables, const char *name,
			  const struct table_parameters *parameters, struct table_origin *origin,
			  struct lookup_table **table, struct dart_error *error);
/* Disconnects its readers first, and ends its requesters. */
void lookup_tables__delete(struct lookup_tables *tables, struct lookup_table *table);
/* NULL if there is no such table. */
struct lookup_table *lookup_tables__find(const struct lookup_tables *tables, const char *name);

/* These announce and count it. */
int lookup_tables__add_requester(struct lookup_tables *tables, struct lookup_table *table,
				 struct in_addr address, struct requester **requester,
				 struct dart_error *error);
int lookup_tables__renew_requester(struct lookup_tables *tables, struct lookup_table *table,
				   struct requester *requester, struct dart_error *error);
void lookup_tables__remove_requester(struct lookup_tables *tables, struct lookup_table *table,
				     struct requester *requester);

/* Requests about tables and requesters; the subject is struct lookup_tables. */
extern const struct request_type tables_requests[];

/* Offers the table that a reader names; the subject is struct lookup_tables. */
extern const struct peer_kind table_reader_kind;

#endif /* LOOKUP_TABLES_H */
