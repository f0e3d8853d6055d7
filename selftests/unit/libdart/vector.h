/* SPDX-License-Identifier: GPL-2.0-only */
/* Members of golden vectors, which fail the test unless their form is right. */
#ifndef VECTOR_H
#define VECTOR_H

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "selftests/unit/unit.h"

struct bytes {
	uint8_t data[8192];
	size_t length;
};

static inline const char *text(const json_t *vector, const char *name)
{
	const char *value = json_string_value(json_object_get(vector, name));

	assert_non_null(value);
	return value;
}

static inline uint64_t number(const json_t *vector, const char *name)
{
	assert_true(json_is_integer(json_object_get(vector, name)));
	return json_integer_value(json_object_get(vector, name));
}

/* Reads a string of hexadecimal digits. */
static inline struct bytes bytes(const json_t *vector, const char *name)
{
	const char *digits = text(vector, name);
	struct bytes bytes = { .length = strlen(digits) / 2 };
	unsigned int byte;
	size_t i;

	assert_true(bytes.length <= sizeof(bytes.data));
	for (i = 0; i < bytes.length; i++) {
		assert_int_equal(sscanf(digits + 2 * i, "%2x", &byte), 1);
		bytes.data[i] = byte;
	}
	return bytes;
}

#endif /* VECTOR_H */
