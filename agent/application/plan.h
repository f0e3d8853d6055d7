/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the values of an application's entry get into rows of a gathered record (see
 * <linux/dart_zero.h>): the module copies them from locations, or dartd from rows that a reader
 * fetched.  Both make the same rows.
 */
#ifndef APPLICATION_PLAN_H
#define APPLICATION_PLAN_H

#include <libdart/application/layout.h>
#include <libdart/error.h>
#include <linux/dart_zero.h>

#include "agent/schema/record_layout.h"
#include "process.h"

/*
 * @entry with a field for each element of an array, called NAME_0 and so on, as a record needs.
 * The caller clears @flat.
 */
int application_entry__flatten(const struct dart_application_entry *entry,
			       struct dart_application_entry *flat, struct dart_error *error);

/* Locations of the values of an entry in one process, and the record of a copy of all locations. */
struct application_locations {
	struct dart_zero_location *list;
	uint32_t count;
	struct record_layout layout;
};

/*
 * Returns 0; -EOPNOTSUPP if the module cannot gather @flat: it has several rows, more bytes than a
 * sample, or texts that pointers lead to, which lie anywhere; -ENOMEM.
 */
int application_locations__make(struct application_locations *locations,
				const struct dart_application_entry *flat,
				const struct application_process *process,
				struct dart_error *error);
void application_locations__clear(struct application_locations *locations);

#endif /* APPLICATION_PLAN_H */
