// SPDX-License-Identifier: GPL-2.0-only
/* Entries of lookup tables on the command line: by fields, and in digits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dartctl/cli/message.h"
#include "tools/dartctl/cli/schemas.h"
#include "tools/dartctl/lookup/entry.h"
/* cmocka.h defines a macro fail(), and message.h declares a function of that name. */
#include "selftests/unit/unit.h"

static const uint8_t expected[] = { 10, 0, 0, 1, 0, 80, 192, 0, 2, 1 };

/* ---- schemas */

static const struct {
	const char *name, *text;
} schemas[] = {
	{ "nat", "key:\n"
		 "  - {name: src, type: ipv4}\n"
		 "  - {name: port, type: u16}\n"
		 "value:\n"
		 "  - {name: to, type: ipv4}\n" },
	/* Its keys differ in length. */
	{ "path", "key:\n"
		  "  - {name: src, type: address}\n"
		  "  - {name: port, type: u16}\n"
		  "value:\n"
		  "  - {name: to, type: ipv4}\n" },
};

static const char *text_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
		if (!strcmp(schemas[i].name, name))
			return schemas[i].text;
	return NULL;
}

bool schemas__has(const char *name)
{
	return text_of(name);
}

struct dart_key_schema *schemas__load(const char *name)
{
	const char *text = text_of(name);
	struct dart_key_schema *schema;
	struct dart_error error;
	FILE *file;

	assert_non_null(text);
	file = fmemopen((char *)text, strlen(text), "r");
	assert_non_null(file);
	assert_int_equal(dart_key_schema__load(file, name, &schema, &error), 0);
	fclose(file);
	return schema;
}

/* ---- entries */

/* Returns the exit status. */
static int take(const struct lookup_named *named, bool has_value, uint8_t *entry)
{
	struct dart_error error;
	struct lookup_layout layout;
	int status;

	assert_int_equal(lookup_layout__init(&layout, schemas__load("nat"), &error), 0);
	status = lookup_entry__take(named, &layout, has_value, entry);
	lookup_layout__free(&layout);
	return status;
}

static void test_fields(void **state)
{
	char *fields[] = { "to=192.0.2.1", "port=80", "src=10.0.0.1" };
	const struct lookup_named named = { .table = "nat",
					 .fields = fields,
					 .field_count = 3 };
	struct lookup_named wrong = named;
	uint8_t entry[LOOKUP_ENTRY_MAX] = { 0 };

	assert_int_equal(take(&named, true, entry), EXIT_SUCCESS);
	assert_memory_equal(entry, expected, sizeof(expected));
	wrong.field_count = 2;
	assert_int_equal(take(&wrong, true, entry), EXIT_USAGE);
	wrong = named;
	wrong.value = "c0000201";
	assert_int_equal(take(&wrong, true, entry), EXIT_USAGE);
}

static void test_digits(void **state)
{
	const struct lookup_named named = { .table = "nat",
					 .schema = "flow",
					 .key = "0a0000010050",
					 .value = "c0000201" };
	struct lookup_named wrong = named;
	uint8_t entry[LOOKUP_ENTRY_MAX] = { 0 };

	assert_int_equal(take(&named, true, entry), EXIT_SUCCESS);
	assert_memory_equal(entry, expected, sizeof(expected));
	assert_int_equal(take(&named, false, entry), EXIT_SUCCESS);
	/* Only the first field: the others would be zeros. */
	wrong.key = "10.0.0.1";
	assert_int_equal(take(&wrong, true, entry), EXIT_USAGE);
	wrong = named;
	wrong.value = NULL;
	assert_int_equal(take(&wrong, true, entry), EXIT_USAGE);
}

/* The number of fields, or -1 after a failure. */
static int fields_of(const struct lookup_named *named)
{
	static const struct dart_tea_geometry geometry = { 10, DART_TEA_CELLS, 6, 4, 1514 };
	struct lookup_layout layout;
	int count;

	if (lookup_entry__layout(named, &geometry, &layout))
		return -1;
	count = layout.count;
	lookup_layout__free(&layout);
	return count;
}

static void test_schema(void **state)
{
	struct lookup_named named = { .table = "nat" };

	assert_int_equal(fields_of(&named), 3);
	named.key = "0a0000010050";
	assert_int_equal(fields_of(&named), 2);
	named.schema = "nat";
	assert_int_equal(fields_of(&named), 3);
	/* A table that was created with --key and --value may carry this name. */
	named = (struct lookup_named){ .table = "path" };
	assert_int_equal(fields_of(&named), 2);
	named.schema = "path";
	assert_int_equal(fields_of(&named), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an entry has its fields in any order, and none in digits beside",
		     test_fields),
		TEST("a key and a value in digits are whole ones with a schema, too", test_digits),
		TEST("the schema is the given one, or that of the table's name if a table can have it",
		     test_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
