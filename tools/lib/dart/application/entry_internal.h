/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries of layouts while their fields are collected: the length of a copy is not known yet. */
#ifndef DART_ENTRY_INTERNAL_H
#define DART_ENTRY_INTERNAL_H

#include <stdint.h>

#include <libdart/application/entry.h>
#include <libdart/error.h>

/* Zeroed, it is empty.  Fields have no offsets. */
struct dart_entry_draft {
	struct dart_field *fields;
	struct dart_application_location *locations; /* of each field, in row 0 */
	uint32_t field_count;
};

/*
 * Appends a field.  On success the draft owns the name and unit of @field, which were allocated.
 * Returns 0 or -ENOMEM.
 */
int dart_entry_draft__add(struct dart_entry_draft *draft, const struct dart_field *field,
			  const struct dart_application_location *location);

/*
 * Makes an entry of one row, in whose copies the fields lie side by side, and moves the locations
 * into it.  Returns 0, or sets @error, without the name of the entry, and returns -EINVAL or
 * -ENOMEM.
 */
int dart_entry_draft__finish(struct dart_entry_draft *draft, const char *name,
			     struct dart_application_entry *entry, struct dart_error *error);

void dart_entry_draft__clear(struct dart_entry_draft *draft);

/* 1 for a text, otherwise the width of the field. */
uint32_t dart_field__alignment(const struct dart_field *field);

#endif /* DART_ENTRY_INTERNAL_H */
