// SPDX-License-Identifier: GPL-2.0-only
/* The share of each user in the table. */
#include <errno.h>
#include <string.h>

#include "agent/table/quota.h"
#include "selftests/unit/unit.h"

#define MIB (UINT64_C(1) << 20)

static void test_entries(void **state)
{
	struct quota_user *users[3];
	struct quotas quotas;
	struct dart_error error;
	int i;

	quotas__open(&quotas);
	quotas__limit(&quotas, 3, 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(quotas__check(&quotas, 1000, 1, 0, &error), 0);
		users[i] = quotas__charge(&quotas, 1000, 1, 0);
	}
	assert_int_equal(quotas__check(&quotas, 1000, 1, 0, &error), -EDQUOT);
	assert_non_null(strstr(error.text, "user 1000 has 3 entries"));
	assert_int_equal(quotas__check(&quotas, 1001, 1, 0, &error), 0);
	assert_int_equal(quotas__check(&quotas, 0, 1, 0, &error), 0);
	quotas__release(&quotas, users[0], 1, 0);
	assert_int_equal(quotas__check(&quotas, 1000, 1, 0, &error), 0);
	assert_int_equal(quotas__check(&quotas, 1000, 2, 0, &error), -EDQUOT);
	assert_non_null(strstr(error.text, "has 2 entries, and this one counts as 2"));
	quotas__release(&quotas, users[1], 1, 0);
	quotas__release(&quotas, users[2], 1, 0);
	assert_true(SLIST_EMPTY(&quotas.users));
	quotas__close(&quotas);
}

static void test_bytes(void **state)
{
	struct quota_user *user;
	struct quotas quotas;
	struct dart_error error;

	quotas__open(&quotas);
	quotas__limit(&quotas, 0, 2);
	assert_int_equal(quotas__check(&quotas, 1000, 1, 2 * MIB, &error), 0);
	assert_int_equal(quotas__check(&quotas, 1000, 1, 2 * MIB + 1, &error), -EDQUOT);
	user = quotas__charge(&quotas, 1000, 0, MIB);
	assert_int_equal(quotas__check(&quotas, 1000, 1, MIB, &error), 0);
	assert_int_equal(quotas__check(&quotas, 1000, 1, MIB + 1, &error), -EDQUOT);
	assert_non_null(strstr(error.text, "more than the 2 MiB"));
	assert_int_equal(quotas__check(&quotas, 1000, 1, 0, &error), 0);
	quotas__release(&quotas, user, 0, MIB);
	assert_true(SLIST_EMPTY(&quotas.users));
	quotas__close(&quotas);
}

static void test_root(void **state)
{
	struct quotas quotas;
	struct dart_error error;
	int i;

	quotas__open(&quotas);
	quotas__limit(&quotas, 1, 1);
	for (i = 0; i < 10; i++) {
		assert_int_equal(quotas__check(&quotas, 0, 1, 64 * MIB, &error), 0);
		assert_null(quotas__charge(&quotas, 0, 1, 64 * MIB));
	}
	quotas__close(&quotas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a user has so many entries and no more, other users and root have theirs",
		     test_entries),
		TEST("the slices of a user have so many bytes and no more", test_bytes),
		TEST("root has no quota", test_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
