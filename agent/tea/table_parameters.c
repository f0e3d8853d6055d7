// SPDX-License-Identifier: GPL-2.0-only
/* Turns the hostile numbers of a request into the parameters of a table. */
#include <errno.h>
#include <string.h>

#include <dart/registration.h>
#include <dart/tea.h>

#include "table_parameters.h"

/* A hostile number, and its range. */
struct bounded_number {
	const char *what;
	json_int_t number, least, most;
	uint32_t *into;
};

static int take_numbers(const struct bounded_number *numbers, struct dart_error *error)
{
	for (; numbers->what; numbers++) {
		if (numbers->number < numbers->least || numbers->number > numbers->most)
			return dart_error__set(error, EINVAL,
					       "%s: %" JSON_INTEGER_FORMAT
					       " is not a number from %" JSON_INTEGER_FORMAT
					       " to %" JSON_INTEGER_FORMAT,
					       numbers->what, numbers->number, numbers->least,
					       numbers->most);
		*numbers->into = numbers->number;
	}
	return 0;
}

/* The parameters in a request to create a table: hostile. */
struct wanted_table {
	json_int_t rows_log2, key_length, value_length, cells, packet_length;
	json_int_t first_share, last_share;
};

static int make_parameters(const struct wanted_table *wanted, struct table_parameters *parameters,
			   struct dart_error *error)
{
	struct dart_tea_geometry *geometry = &parameters->geometry;
	const struct bounded_number numbers[] = {
		{ "the logarithm of the rows of a table", wanted->rows_log2, 0,
		  DART_TEA_ROWS_LOG2_MAX, &geometry->rows_log2 },
		{ "bytes of a key", wanted->key_length, 1, DART_TEA_KEY_MAX,
		  &geometry->key_length },
		{ "bytes of a value", wanted->value_length, 1,
		  DART_TEA_VALUE_MAX, &geometry->value_length },
		{ "cells of a bucket", wanted->cells, 1, DART_TEA_CELLS_MAX,
		  &geometry->cells },
		{ "bytes of a packet", wanted->packet_length,
		  DART_TEA_PACKET_MIN, 1 << DART_TEA_ROW_LOG2_MAX,
		  &geometry->packet_length },
		{ "the first share", wanted->first_share, 0,
		  DART_TEA_SHARES - 1, &parameters->first_share },
		{ "the last share", wanted->last_share, wanted->first_share,
		  DART_TEA_SHARES - 1, &parameters->last_share },
		{ }
	};
	int ret = take_numbers(numbers, error);

	if (!ret && dart_tea_geometry__check(geometry))
		ret = dart_error__set(
			error, EINVAL,
			"a row with its packet has more than %d bytes: %zu of two buckets and sequences, %d of a tag and %u of the packet (take fewer cells, or a shorter key, value or packet)",
			1 << DART_TEA_ROW_LOG2_MAX, dart_tea_geometry__row_length(geometry),
			DART_TEA_TAG_LENGTH, geometry->packet_length);
	return ret;
}

/* The user need not exist yet: its package may be installed later. */
static int take_user(const char *user, struct table_parameters *parameters,
		     struct dart_error *error)
{
	if (!*user || strlen(user) >= sizeof(parameters->user))
		return dart_error__set(error, EINVAL, "the name of a user has 1 to %d bytes",
				       TABLE_USER_MAX - 1);
	strcpy(parameters->user, user);
	return 0;
}

int table_parameters__unpack(struct request *request, const char **name, const char **file,
			     struct table_parameters *parameters)
{
	struct wanted_table wanted = {
		.cells = DART_TEA_CELLS,
		.packet_length = DART_TEA_PACKET,
		.last_share = DART_TEA_SHARES - 1,
	};
	const char *user = DART_REGISTRATION_TABLE_USER;
	int ret;

	*file = NULL;
	ret = request__unpack(request, "{s:s, s:I, s:I, s:I, s?I, s?I, s?[II!], s?s, s?s !}", "name",
			      name, "rows_log2", &wanted.rows_log2, "key_length",
			      &wanted.key_length, "value_length", &wanted.value_length, "cells",
			      &wanted.cells, "packet_length", &wanted.packet_length, "shares",
			      &wanted.first_share, &wanted.last_share, "file", file, "user", &user);
	if (!ret && !*file != (request->fd < 0))
		ret = dart_error__set(&request->error, EINVAL,
				      "a file has a name and a descriptor");
	return ret ?: take_user(user, parameters, &request->error) ?:
		      make_parameters(&wanted, parameters, &request->error);
}
