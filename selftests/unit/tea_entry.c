// SPDX-License-Identifier: GPL-2.0-only
/* Entries of lookup tables on the command line: by fields, and in digits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dartctl/message.h"
#include "tools/dartctl/tea/tea_entry.h"
#include "unit.h"

static const uint8_t expected[] = { 10, 0, 0, 1, 0, 80, 192, 0, 2, 1 };

static void lay_out(struct tea_layout *layout)
{
	static const char text[] = "key:\n"
				   "  - {name: src, type: ipv4}\n"
				   "  - {name: port, type: u16}\n"
				   "value:\n"
				   "  - {name: to, type: ipv4}\n";
	FILE *file = fmemopen((char *)text, strlen(text), "r");
	struct dart_key_schema *schema;
	struct dart_error error;

	assert_non_null(file);
	assert_int_equal(dart_key_schema__load(file, "schema", &schema, &error),
			 0);
	fclose(file);
	assert_int_equal(tea_layout__init(layout, schema, &error), 0);
}

/* Returns the exit status. */
static int take(const struct tea_named *named, bool has_value, uint8_t *entry)
{
	struct tea_layout layout;
	int status;

	lay_out(&layout);
	status = tea_entry__take(named, &layout, has_value, entry);
	tea_layout__free(&layout);
	return status;
}

static void test_fields(void **state)
{
	char *fields[] = { "to=192.0.2.1", "port=80", "src=10.0.0.1" };
	const struct tea_named named = { .table = "nat",
					 .fields = fields,
					 .field_count = 3 };
	struct tea_named wrong = named;
	uint8_t entry[TEA_ENTRY_MAX] = { 0 };

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
	const struct tea_named named = { .table = "nat",
					 .schema = "flow",
					 .key = "0a0000010050",
					 .value = "c0000201" };
	struct tea_named wrong = named;
	uint8_t entry[TEA_ENTRY_MAX] = { 0 };

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an entry has its fields in any order, and none in digits beside",
		     test_fields),
		TEST("a key and a value in digits are whole ones with a schema, too",
		     test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
