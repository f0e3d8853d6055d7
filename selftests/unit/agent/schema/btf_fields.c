// SPDX-License-Identifier: GPL-2.0-only
/* Types nested as deep as the loader of the BTF likes. */
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/schema/btf_fields.h"
#include "selftests/unit/unit.h"

enum { LEVELS = 200000, NESTED = 3000 };

static void collect(struct btf *btf, int type_id, uint32_t fields, uint32_t left_out)
{
	struct btf_fields *collected = calloc(1, sizeof(*collected));

	assert_non_null(collected);
	assert_true(type_id > 0);
	assert_int_equal(btf_fields__collect(collected, btf, type_id), 0);
	assert_int_equal(collected->count, fields);
	assert_int_equal(collected->left_out, left_out);
	btf_fields__free(collected);
	free(collected);
	btf__free(btf);
}

static int add_typedefs(struct btf *btf, int count)
{
	int id = btf__add_int(btf, "u64", 8, 0);

	while (count--)
		id = btf__add_typedef(btf, "again", id);
	return id;
}

static void test_typedefs(void **state)
{
	struct btf *btf = btf__new_empty();

	collect(btf, add_typedefs(btf, 60), 1, 0);
	btf = btf__new_empty();
	collect(btf, add_typedefs(btf, LEVELS), 0, 1);
}

static int add_structs(struct btf *btf, int count)
{
	int id = btf__add_int(btf, "u64", 8, 0), inner;

	while (count--) {
		inner = id;
		id = btf__add_struct(btf, "outer", 8);
		assert_int_equal(btf__add_field(btf, "", inner, 0, 0), 0);
	}
	return id;
}

static void test_structs(void **state)
{
	struct btf *btf = btf__new_empty();

	collect(btf, add_structs(btf, 60), 1, 0);
	btf = btf__new_empty();
	collect(btf, add_structs(btf, NESTED), 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("200,000 typedefs of one another are left out, 60 are followed",
		     test_typedefs),
		TEST("3,000 structs in one another are left out, 60 are followed", test_structs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
