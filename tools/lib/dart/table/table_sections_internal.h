/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sections of a control region, each in separate memory that grows at its end; the elements are
 * the structures of <dart/control.h>.
 */
#ifndef DART_TABLE_SECTIONS_H
#define DART_TABLE_SECTIONS_H

#include "table_format_internal.h"

/* All zeros means empty sections. */
struct dart_sections {
	struct {
		uint8_t *bytes;
		uint32_t count;		/* elements */
		uint32_t room;
	} of[DART_SECTIONS];
};

/*
 * Makes room to put @more elements.  Returns 0, -EINVAL if a control region
 * cannot have so many, or -ENOMEM.
 */
int dart_sections__reserve(struct dart_sections *sections, enum dart_section section,
			   uint64_t more);
void dart_sections__put(struct dart_sections *sections, enum dart_section section, const void *raw);
/* Copies element @index to @raw. */
void dart_sections__get(const struct dart_sections *sections, enum dart_section section,
			uint32_t index, void *raw);
void dart_sections__replace(struct dart_sections *sections, enum dart_section section,
			    uint32_t index, const void *raw);

/* Puts a string and returns the reference to it; the string of a reference. */
__le32 dart_sections__put_string(struct dart_sections *sections, const char *text);
const char *dart_sections__string(const struct dart_sections *sections, __le32 reference);

void dart_sections__release(struct dart_sections *sections);

#endif /* DART_TABLE_SECTIONS_H */
