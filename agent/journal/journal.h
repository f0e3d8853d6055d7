/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The journals of this collector: memory that readers READ, and of which each appender WRITEs a
 * part of its own; see <dart/journal.h>.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <libdart/journal/journal.h>

#include "agent/base/peer_kind.h"
#include "agent/base/request.h"
#include "agent/rdma/remote_objects.h"
#include "agent/rdma/report_qp.h"

/* In errors, and in the names of kept descriptors. */
#define JOURNAL_NOUN "journal"
/* All names in the fd store begin with this. */
#define JOURNAL_KEPT_PREFIX JOURNAL_NOUN "-"

struct journal {
	struct remote_object object;
	struct dart_journal_geometry geometry;
	uint64_t epoch; /* as of a store */
};

/* Journals as remote objects; their peers are the appenders, struct report_qp. */
extern const struct remote_kind journal_kind;

/* See remote_objects__add(). */
int journals__create(struct remote_objects *journals, const char *name,
		     const struct dart_journal_geometry *geometry, struct remote_origin *origin,
		     struct journal **journal, struct dart_error *error);
/*
 * Gives the appender at @address a part: @part if this is free, or, with -1, the first free one,
 * whose bytes become zeros.  -EAGAIN while the appender does not answer ARP: the caller tries
 * again.
 */
int journals__add_appender(struct remote_objects *journals, struct journal *journal,
			   struct in_addr address, int part, const struct report_qp_origin *origin,
			   struct report_qp **appender, struct dart_error *error);
/* The part of an appender. */
uint32_t journal__part(const struct journal *journal, const struct report_qp *appender);

/* Requests about journals and appenders; the subject is struct remote_objects. */
extern const struct request_type journals_requests[];

/* Offers the journal that a reader names; the subject is struct remote_objects. */
extern const struct peer_kind journal_reader_kind;

#endif /* JOURNAL_H */
