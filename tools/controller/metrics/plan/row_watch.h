/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows that an entry had when a plan was made: which ones were not empty, and the bytes
 * that tell them apart and become labels: the number of a gathered row, texts and addresses.
 */
#ifndef CONTROLLER_ROW_WATCH_H
#define CONTROLLER_ROW_WATCH_H

#include "tools/controller/base/arena.h"
#include "tools/controller/decode/sample.h"

struct row_watch {
	uint32_t entry; /* index in the sample */
	uint32_t copies;
	uint32_t field_count;
	uint32_t key_length; /* bytes of the fields of a row */
	const uint32_t *fields;
	bool *present; /* by copy */
	uint8_t *keys; /* by copy */
};

/*
 * The field with the number of each row of a gathered entry ("cpu", "node", "port" or
 * "device"), or NULL: rows are numbered from 0.
 */
const struct dart_field *row__number(const struct dart_entry *entry);

/* May rows of @entry come, go or change, so that they are to be watched? */
bool row_watch__is_needed(const struct dart_entry *entry);
/*
 * A torn row counts as present if it has no key, and otherwise as absent: then the next
 * sample in which it is whole does not fit.  Returns 0 or -ENOMEM.
 */
int row_watch__init(struct row_watch *watch, struct arena *arena, const struct sample_entry *entry,
		    uint32_t index);
bool row_watch__fits(const struct row_watch *watch, const struct sample_entry *entry);

#endif /* CONTROLLER_ROW_WATCH_H */
