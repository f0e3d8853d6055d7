/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the keys and values of a store mean: dart_schema(5).
 *
 * Reporters and readers of a store agree on a schema; the store itself, and
 * what lies in it, know nothing of it.
 */
#ifndef DART_KEY_SCHEMA_H
#define DART_KEY_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <dart/store.h>
#include <libdart/error.h>

#define DART_KEY_FIELDS_MAX 32
#define DART_KEY_NAME_MAX 32 /* with the NUL */
#define DART_KEY_NAMES_MAX 64 /* names for numbers, of a field */

enum dart_key_kind {
	DART_KEY_NUMBER, /* without sign, in network byte order */
	DART_KEY_ADDRESS, /* of IPv4 or IPv6, in network byte order */
	DART_KEY_MAC,
	DART_KEY_BYTES,
	DART_KEY_TEXT, /* ended by NUL, or its length */
};

struct dart_key_type {
	const char *name; /* "u16" */
	enum dart_key_kind kind;
	uint32_t width_min; /* bytes; differ where a text decides */
	uint32_t width_max;
};

/* What a number is called, "udp". */
struct dart_key_name {
	char name[DART_KEY_NAME_MAX];
	uint64_t number;
};

/* The strings are printable ASCII. */
struct dart_key_field {
	char name[DART_KEY_NAME_MAX];
	const struct dart_key_type *type;
	/* elements side by side; bytes of DART_KEY_BYTES and DART_KEY_TEXT */
	uint32_t count;
	/* the newest element first, zeros behind the oldest */
	bool is_stack;
	char *unit; /* NULL if it has none */
	char *description; /* likewise */
	struct dart_key_name *names;
	uint32_t name_count;
};

struct dart_key_fields {
	struct dart_key_field list[DART_KEY_FIELDS_MAX];
	uint32_t count; /* at least 1 */
	uint32_t length; /* bytes of all of them, at most */
};

struct dart_key_schema {
	char *description; /* NULL if it has none */
	struct dart_key_fields key; /* at most DART_STORE_KEY_MAX bytes */
	struct dart_key_fields value; /* at most DART_STORE_VALUE_MAX bytes */
};

/*
 * Reads a schema from @file, whatever is in it; @path is for messages.  Returns
 * 0; -EINVAL or -ENOMEM with a sentence in @error, which has the path and line.
 */
int dart_key_schema__load(FILE *file, const char *path,
			  struct dart_key_schema **schema,
			  struct dart_error *error);
void dart_key_schema__free(struct dart_key_schema *schema);

/*
 * Makes a key of what people write: @texts[i] is field i of schema->key.  Returns
 * the bytes of the key, which depend on the addresses, or -EINVAL and a sentence
 * in @error.
 */
int dart_key_schema__key(const struct dart_key_schema *schema,
			 const char *const *texts,
			 uint8_t key[DART_STORE_KEY_MAX],
			 struct dart_error *error);

/*
 * A value of schema->value.length bytes as JSON, a new reference, NULL if memory
 * is short: {"path": [1, 2, 3], "time": 17}.  Stacks and other arrays are arrays,
 * stacks with the oldest first and without the zeros; numbers that have a name
 * are that, a string, and so is all else: addresses, "00:11:22:33:44:55", bytes
 * as hexadecimal digits, texts as in dart_entry__to_json(), see there for what
 * becomes of greater numbers and how to print texts.
 */
json_t *dart_key_schema__value(const struct dart_key_schema *schema,
			       const uint8_t *value);

/* Bytes of all elements, at most. */
uint32_t dart_key_field__length(const struct dart_key_field *field);

#endif /* DART_KEY_SCHEMA_H */
