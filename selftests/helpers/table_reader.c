// SPDX-License-Identifier: GPL-2.0-only
/*
 * table_reader HOST TABLE FIRST COUNT VERSION: reads these entries of table_entries in the
 * memory of another host, prints the number of wrong ones, and does so again for each line
 * of its input, until the input ends.  Exits with 1 if an entry is wrong or cannot be
 * read.
 */
#include <errno.h>
#include <error.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/tea/tea_reader.h>

#include "selftests/lib/table_entry.h"

struct expected {
	uint8_t *keys, *values;
	struct dart_tea_answer *answers;
	size_t count;
};

static void make(struct expected *expected, const struct dart_tea_geometry *geometry,
		 uint64_t first, size_t count, uint64_t version)
{
	size_t i;

	expected->count = count;
	expected->keys = calloc(count, geometry->key_length);
	expected->values = calloc(count, geometry->value_length);
	expected->answers = calloc(count, sizeof(*expected->answers));
	if (!expected->keys || !expected->values || !expected->answers)
		error(1, ENOMEM, "no room for %zu entries", count);
	for (i = 0; i < count; i++)
		table_entry__make(geometry, first + i, version,
				  expected->keys + i * geometry->key_length,
				  expected->values + i * geometry->value_length);
}

static void look_up(struct dart_tea_reader *reader, struct expected *expected)
{
	const size_t length = dart_tea_reader__geometry(reader)->value_length;
	struct dart_error reason;
	size_t i, wrong = 0;

	if (dart_tea__lookup_batch(reader, expected->keys, expected->count,
				   expected->answers, &reason))
		error(1, 0, "%s", reason.text);
	for (i = 0; i < expected->count; i++)
		wrong += expected->answers[i].ret ||
			 memcmp(expected->answers[i].value, expected->values + i * length, length);
	printf("%zu of %zu are wrong\n", wrong, expected->count);
	fflush(stdout);
	if (wrong)
		exit(1);
}

int main(int argc, char *argv[])
{
	struct dart_tea_reader *reader;
	struct expected expected;
	struct dart_error reason;
	char line[16];

	if (argc != 6)
		error(2, 0, "usage: table_reader HOST TABLE FIRST COUNT VERSION");
	if (dart_tea_reader__open(argv[1], DART_CONTROL_PORT, argv[2], &reader, &reason))
		error(1, 0, "%s", reason.text);
	make(&expected, dart_tea_reader__geometry(reader), strtoull(argv[3], NULL, 0),
	     strtoull(argv[4], NULL, 0), strtoull(argv[5], NULL, 0));
	do
		look_up(reader, &expected);
	while (fgets(line, sizeof(line), stdin));
	dart_tea_reader__close(reader);
	free(expected.keys);
	free(expected.values);
	free(expected.answers);
	return EXIT_SUCCESS;
}
