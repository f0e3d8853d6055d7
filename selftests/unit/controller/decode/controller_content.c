// SPDX-License-Identifier: GPL-2.0-only
/* Objects are found by their content, whatever their hash is. */
#include "selftests/unit/unit.h"
#include "tools/controller/decode/content.h"

struct number {
	struct content content;
	int number;
};

static int compare_numbers(const struct content *one, const struct content *other)
{
	return ((const struct number *)one)->number - ((const struct number *)other)->number;
}

static void free_number(struct content *content)
{
	((struct number *)content)->number = 0;
}

static const struct content_kind numbers = {
	.compare = compare_numbers,
	.free = free_number,
};

/* All hashes are equal. */
static void test_collision(void **state)
{
	struct number made[10], key;
	struct content_store store;
	int i;

	assert_int_equal(content_store__open(&store, &numbers), 0);
	for (i = 0; i < 10; i++) {
		content__init(&key.content, &numbers);
		key.number = i + 1;
		assert_null(content_store__find(&store, &key.content));
		content__init(&made[i].content, &numbers);
		made[i].number = i + 1;
		assert_int_equal(content_store__add(&store, &made[i].content), 0);
	}
	for (i = 0; i < 10; i++) {
		key.number = i + 1;
		assert_ptr_equal(content_store__find(&store, &key.content), &made[i].content);
		content__release(&made[i].content);
		assert_int_equal(made[i].number, i + 1);
		content__release(&made[i].content);
		assert_int_equal(made[i].number, 0);
		assert_null(content_store__find(&store, &key.content));
	}
	assert_int_equal(content_store__count(&store), 0);
	content_store__close(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("objects with the same hash are not taken for each other, and are found until their last holder releases them",
		     test_collision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
