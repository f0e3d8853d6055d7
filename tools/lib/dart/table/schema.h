/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A schema: what the bytes of one copy of an entry mean. */
#ifndef DART_SCHEMA_H
#define DART_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/control.h>

struct dart_field {
	char *name;
	char *unit;		/* "" if it has none */
	uint32_t offset;	/* bytes */
	uint32_t width;		/* bytes of an element */
	uint32_t count;		/* elements */
	enum dart_control_field_kind kind;
	bool is_signed;
};

/* Fields are ordered by their offset and do not overlap. */
struct dart_schema {
	char *name;
	uint32_t length;	/* bytes of a copy */
	uint32_t field_count;
	struct dart_field *fields;
};

/*
 * A schema without fields.  NULL, and errno is EINVAL for a name or length that
 * <dart/control.h> does not allow, or ENOMEM.
 */
struct dart_schema *dart_schema__new(const char *name, uint32_t length);

/*
 * Why @field cannot follow the fields that @schema has, as a static sentence;
 * NULL if it can.  Names and units are not looked at.
 */
const char *dart_schema__objection(const struct dart_schema *schema,
				   const struct dart_field *field);

/*
 * Adds a field behind the others; strings are copied.  Returns 0; -EINVAL if
 * it does not fit into the copy, begins before the end of the last one, has a
 * width or count that <dart/control.h> does not know or a string that it does
 * not allow; -EEXIST if the name is taken; -ENOMEM.  Refused fields leave the
 * schema as it was.
 */
int dart_schema__add(struct dart_schema *schema,
		     const struct dart_field *field);
const struct dart_field *dart_schema__find(const struct dart_schema *schema,
					   const char *name);
void dart_schema__free(struct dart_schema *schema);

/* Is @text a string of the format: 0x20 to 0x7e, shorter than NAME_MAX? */
bool dart_text__is_valid(const char *text);

#endif /* DART_SCHEMA_H */
