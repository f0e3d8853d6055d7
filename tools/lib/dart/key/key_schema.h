/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Key schemas: the meaning of the keys and values of a store, see
 * dart_schema(5).
 *
 * Reporters and readers of a store agree on a schema; the store itself does not
 * contain it.
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
#define DART_KEY_NAMES_MAX 64 /* named numbers of a field */

enum dart_key_kind {
	DART_KEY_NUMBER, /* unsigned, in network byte order */
	DART_KEY_ADDRESS, /* IPv4 or IPv6, in network byte order */
	DART_KEY_MAC,
	DART_KEY_BYTES,
	DART_KEY_TEXT, /* padded with NULs */
};

struct dart_key_type {
	const char *name; /* "u16" */
	enum dart_key_kind kind;
	uint32_t width_min; /* bytes; differ if the value decides */
	uint32_t width_max;
};

/* A named number: "udp". */
struct dart_key_name {
	char name[DART_KEY_NAME_MAX];
	uint64_t number;
};

/* The strings are printable ASCII. */
struct dart_key_field {
	char name[DART_KEY_NAME_MAX];
	const struct dart_key_type *type;
	/* elements; bytes of DART_KEY_BYTES and DART_KEY_TEXT */
	uint32_t count;
	/* the newest element is first, zeros follow the oldest */
	bool is_stack;
	char *unit; /* may be NULL */
	char *description; /* may be NULL */
	struct dart_key_name *names;
	uint32_t name_count;
};

struct dart_key_fields {
	struct dart_key_field list[DART_KEY_FIELDS_MAX];
	uint32_t count; /* at least 1 */
	uint32_t length; /* bytes of all fields, at most */
};

struct dart_key_schema {
	char *description; /* may be NULL */
	struct dart_key_fields key; /* at most DART_STORE_KEY_MAX bytes */
	struct dart_key_fields value; /* at most DART_STORE_VALUE_MAX bytes */
};

/*
 * Reads a schema from @file, which may be hostile; @path is for messages.
 * Returns 0, or sets @error, with the path and line, and returns -EINVAL or
 * -ENOMEM.
 */
int dart_key_schema__load(FILE *file, const char *path, struct dart_key_schema **schema,
			  struct dart_error *error);
void dart_key_schema__free(struct dart_key_schema *schema);

/*
 * Makes a key of texts: @texts[i] is field i of schema->key.  Returns the bytes
 * of the key, which depend on the families of addresses, or sets @error and
 * returns -EINVAL.
 */
int dart_key_schema__key(const struct dart_key_schema *schema, const char *const *texts,
			 uint8_t key[DART_STORE_KEY_MAX], struct dart_error *error);

/*
 * A value of schema->value.length bytes as JSON, a new reference, NULL if out
 * of memory: {"path": [1, 2, 3], "time": 17}.  Stacks and other arrays are
 * arrays, stacks with the oldest element first and without zeros.  Numbers with
 * a name are strings, and so are addresses, MACs ("00:11:22:33:44:55"), bytes
 * (hexadecimal digits) and texts.  dart_entry__to_json() says how numbers above
 * 2^63-1 appear and how to print texts.
 */
json_t *dart_key_schema__value(const struct dart_key_schema *schema, const uint8_t *value);

/* Bytes of all elements, at most. */
uint32_t dart_key_field__length(const struct dart_key_field *field);

#endif /* DART_KEY_SCHEMA_H */
