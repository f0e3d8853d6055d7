/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A schema: the meaning of the bytes in one copy of an entry. */
#ifndef DART_SCHEMA_H
#define DART_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/control.h>

struct dart_field {
	char *name;
	char *unit;		/* may be "" */
	uint32_t offset;	/* bytes */
	uint32_t width;		/* bytes of an element */
	uint32_t count;		/* elements */
	enum dart_control_field_kind kind;
	bool is_signed;
	bool lags;		/* DART_CONTROL_FIELD_LAGS */
};

/* Fields are ordered by offset and do not overlap. */
struct dart_schema {
	char *name;
	uint32_t length;	/* bytes of a copy */
	uint32_t field_count;
	struct dart_field *fields;
	/*
	 * Of a decoded table, so that the state of a row is found without its fields: the
	 * sequences have passed the check, and have so many bytes at both ends of each line;
	 * 0: there are none.  Otherwise false and 0.
	 */
	bool has_passed;
	uint8_t sequence_width;
};

/*
 * Creates a schema without fields.  Returns NULL and sets errno to EINVAL, for
 * a name or length that <dart/control.h> does not allow, or to ENOMEM.
 */
struct dart_schema *dart_schema__new(const char *name, uint32_t length);

/*
 * Why @field cannot follow the fields of @schema, as a static sentence; NULL if
 * it can.  That its name is unique is not checked.
 */
const char *dart_schema__objection(const struct dart_schema *schema,
				   const struct dart_field *field);

/* Has it a field that is a sequence? */
bool dart_schema__has_sequence(const struct dart_schema *schema);

/*
 * Why the sequences of a schema with all its fields break the rules of <dart/control.h>, as a
 * static sentence; NULL if they do not, or if there are none.
 */
const char *dart_schema__objection_to_sequences(const struct dart_schema *schema);

/*
 * Appends a field; strings are copied.  Returns 0; -EINVAL if it reaches beyond
 * the copy, begins before the end of the last field, or has a width, count or
 * string that <dart/control.h> does not allow; -EEXIST if the name is taken;
 * -ENOMEM.  An error leaves the schema unchanged.
 */
int dart_schema__add(struct dart_schema *schema, const struct dart_field *field);
bool dart_schema__equals(const struct dart_schema *schema, const struct dart_schema *other);
const struct dart_field *dart_schema__find(const struct dart_schema *schema, const char *name);
void dart_schema__free(struct dart_schema *schema);

/* Does the format allow @name for a field? */
bool dart_name__is_valid(const char *name);
/* For an entry, whose name can be longer? */
bool dart_entry_name__is_valid(const char *name);
/*
 * Names of gathered entries end with their interval: "cpustat+1s", "vmstat+100ms".  Returns the
 * interval of the entry @name in ms, and in *@length the length of the name before it; 0 if the
 * name has no interval.
 */
uint32_t dart_gathered_name__ms(const char *name, size_t *length);
/* Does the format allow @text: 0x20 to 0x7e, below DART_CONTROL_NAME_MAX? */
bool dart_text__is_valid(const char *text);

#endif /* DART_SCHEMA_H */
