/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of the entries of a table, by a schema: dart_schema(5). */
#ifndef TEA_LAYOUT_H
#define TEA_LAYOUT_H

#include <dart/tea.h>
#include <libdart/key/key_schema.h>

#define TEA_FIELDS_MAX (2 * DART_KEY_FIELDS_MAX)

struct tea_field {
	const struct dart_key_field *is;
	uint32_t offset; /* bytes, from the first one of the key */
	size_t name_length;
};

/* An entry is its key and, behind it, its value. */
struct tea_layout {
	struct dart_key_schema *schema;
	struct tea_field
		fields[TEA_FIELDS_MAX]; /* of the key, then of the value */
	uint32_t count, key_count; /* of fields; of those of the key */
	uint32_t key_length, value_length; /* bytes */
};

#define TEA_ENTRY_MAX (DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX) /* bytes */

/*
 * Makes a layout of @schema, which it owns afterwards.  Returns 0, or sets @error and
 * returns -EINVAL if no table can have such entries; then the caller keeps @schema.
 */
int tea_layout__init(struct tea_layout *layout, struct dart_key_schema *schema,
		     struct dart_error *error);
/*
 * Makes that of entries without a schema: the fields "key" and "value", hexadecimal
 * digits.  Returns 0, -EINVAL or -ENOMEM.
 */
int tea_layout__init_raw(struct tea_layout *layout, uint32_t key_length,
			 uint32_t value_length, struct dart_error *error);
void tea_layout__free(struct tea_layout *layout);

/* The index of the field whose name is these @length bytes, or -ENOENT. */
int tea_layout__find(const struct tea_layout *layout, const char *name, size_t length);
/* Writes the names of all fields, with ", " between them. */
void tea_layout__names(const struct tea_layout *layout, char *text, size_t size);

#endif /* TEA_LAYOUT_H */
