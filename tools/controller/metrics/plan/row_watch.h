/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows that an entry contained when its plan was made: a flag for each row that was not empty,
 * and the bytes that tell rows apart and become labels: the number of a gathered row, texts and
 * addresses.
 */
#ifndef CONTROLLER_ROW_WATCH_H
#define CONTROLLER_ROW_WATCH_H

#include "tools/controller/base/arena.h"
#include "tools/controller/decode/sample.h"

struct row_watch {
	uint32_t entry; /* index in the sample */
	uint32_t copies;
	uint32_t field_count;
	uint32_t key_length; /* length of a row's key: the bytes of its fields */
	const uint32_t *fields;
	bool *present; /* indexed by copy */
	uint8_t *keys; /* indexed by copy */
};

/*
 * Returns the field with the number of each row of a gathered entry ("cpu", "node", "port" or
 * "device"), or NULL: then rows are numbered from 0.
 */
const struct dart_field *row__number(const struct dart_entry *entry);

/* True if rows of @entry may appear, vanish or change, so that the plan must watch them. */
bool row_watch__is_needed(const struct dart_entry *entry);
/*
 * Records the rows of @entry. A torn row counts as present if rows carry no key, and otherwise as
 * absent: then the plan does not fit the next sample in which the row is whole. Returns 0 or
 * -ENOMEM.
 */
int row_watch__init(struct row_watch *watch, struct arena *arena, const struct sample_entry *entry,
		    uint32_t index);
bool row_watch__fits(const struct row_watch *watch, const struct sample_entry *entry);

#endif /* CONTROLLER_ROW_WATCH_H */
