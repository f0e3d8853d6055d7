/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory in parts, one for each reporter, which WRITEs only there: see <dart/journal.h> and
 * <dart/sketch.h>.
 */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include <jansson.h>

#include "remote_objects.h"
#include "report_qp.h"

struct report_parts {
	uint32_t count;
	uint64_t length; /* bytes of a part */
	uint32_t write_max; /* bytes of a WRITE */
};

/* The part of @report_qp, which WRITEs to @object. */
uint32_t report_parts__number(const struct report_parts *parts, const struct remote_object *object,
			      const struct report_qp *report_qp);
/*
 * Gives the host at @address a part: @part if this is free, or, with -1, the first free one, whose
 * bytes become zeros.  -ENOSPC if all are taken; -EAGAIN while the host does not answer ARP: the
 * caller tries again.
 */
int report_parts__add(struct remote_objects *objects, struct remote_object *object,
		      const struct report_parts *parts, struct in_addr address, int part,
		      const struct report_qp_origin *origin, struct report_qp **report_qp,
		      struct dart_error *error);

/* Adds the part of a reporter to the numbers @kept, which may be NULL. */
void report_parts__keep(json_t *kept, uint32_t part);
/* Returns the part's number in @kept, which may be hostile or NULL; -1 without one below @most. */
int report_parts__kept(const json_t *kept, uint32_t most);

#endif /* REPORT_PARTS_H */
