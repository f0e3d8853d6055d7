/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes layouts of memory that describes itself: see formats.h. */
#ifndef DART_DESCRIBED_INTERNAL_H
#define DART_DESCRIBED_INTERNAL_H

#include <libdart/application/formats.h>

#include "entry_internal.h"

/*
 * Bytes of the text fields: with the time of a row, a text fits into a line of a gathered record.
 * A text that is longer is left out; one that becomes longer is cut off.
 */
#define DART_DESCRIBED_TEXT_MAX 48

/* A layout without entries, whose only module is the address space of the process. */
struct dart_application_layout *dart_described__new(const char *description);

/* Do @count elements of @size bytes, at least 1, lie at @offset inside the mapping? */
bool dart_mapped__holds(const struct dart_mapped *mapped, uint64_t offset, uint64_t count,
			uint64_t size);

/* Integers at @offset, which lies inside the mapping. */
uint32_t dart_mapped__u32(const struct dart_mapped *mapped, uint64_t offset);
uint64_t dart_mapped__u64(const struct dart_mapped *mapped, uint64_t offset);
/* The text at @offset, if its NUL follows within @size bytes and the mapping; otherwise NULL. */
const char *dart_mapped__text(const struct dart_mapped *mapped, uint64_t offset, uint64_t size);

/*
 * Appends the value at @offset of the mapping, which lies there whole.  A value that a layout cannot
 * carry is left out: one with a malformed name or unit, a second one of the same name, or one at no
 * multiple of its width.  Texts are copied.  Returns 0, -E2BIG or -ENOMEM.
 */
int dart_described__add(struct dart_application_layout *layout, struct dart_entry_draft *draft,
			const struct dart_mapped *mapped, uint64_t offset,
			const struct dart_field *field, struct dart_error *error);
/* Appends a check that an integer keeps its value. */
int dart_described__check(struct dart_application_layout *layout, const struct dart_mapped *mapped,
			  uint64_t offset, uint8_t width, struct dart_error *error);
/*
 * Appends the entry of @draft, if it has fields.  *@entry, if not NULL, becomes the entry, until
 * the next one is appended, or NULL.
 */
int dart_described__finish(struct dart_application_layout *layout, struct dart_entry_draft *draft,
			   const char *name, const char *instance,
			   struct dart_application_entry **entry, struct dart_error *error);

#endif /* DART_DESCRIBED_INTERNAL_H */
