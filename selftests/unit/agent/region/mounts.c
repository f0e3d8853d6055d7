// SPDX-License-Identifier: GPL-2.0-only
/* Finds the mounts that are reached by their mount points, in lists that a kernel could show. */
#include <stdlib.h>
#include <string.h>

#include "agent/region/mounts.h"
#include "selftests/unit/unit.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* @list: in the order that mounts.h tells; the ids begin with 10. */
static const struct mount *at(struct mount *list, size_t count, const char *path)
{
	static size_t by_id[16];
	const struct mounts mounts = {
		.list = list, .by_id = by_id, .count = count,
	};
	size_t i;

	assert_true(count <= COUNT(by_id));
	for (i = 0; i < count; i++)
		by_id[list[i].id - 10] = i;
	return mounts__at(&mounts, path);
}

static void test_plain(void **state)
{
	struct mount list[] = {
		{ 10, 1, .path = "/" },
		{ 11, 10, .path = "/home" },
		{ 12, 10, .path = "/srv" },
		{ 13, 12, .path = "/srv/deep/er" },
	};

	assert_ptr_equal(at(list, COUNT(list), "/"), &list[0]);
	assert_ptr_equal(at(list, COUNT(list), "/home"), &list[1]);
	assert_ptr_equal(at(list, COUNT(list), "/srv/deep/er"), &list[3]);
	assert_null(at(list, COUNT(list), "/srv/deep"));
	assert_null(at(list, COUNT(list), "/hom"));
	assert_null(at(list, 0, "/"));
}

static void test_covered(void **state)
{
	struct mount list[] = {
		{ 10, 1, .path = "/" },
		{ 11, 10, .path = "/srv" },
		{ 12, 11, .path = "/srv" },
		{ 13, 11, .path = "/srv/below" },
		{ 14, 12, .path = "/srv/above" },
	};

	assert_ptr_equal(at(list, COUNT(list), "/srv"), &list[2]);
	assert_ptr_equal(at(list, COUNT(list), "/srv/above"), &list[4]);
	assert_null(at(list, COUNT(list), "/srv/below"));
}

static void test_cut_off(void **state)
{
	struct mount list[] = {
		{ 10, 1, .path = "/" },
		{ 11, 10, .path = "/a" },
		{ 12, 10, .path = "/a/b/c" },
		{ 13, 10, .path = "/ab/c" },
		{ 14, 12, .path = "/a/b/c/d" },
	};

	assert_ptr_equal(at(list, COUNT(list), "/a"), &list[1]);
	assert_ptr_equal(at(list, COUNT(list), "/ab/c"), &list[3]);
	assert_null(at(list, COUNT(list), "/a/b/c"));
	assert_null(at(list, COUNT(list), "/a/b/c/d"));
}

/* Bytes are compared as the kernel's are: without a sign. */
static void test_foreign(void **state)
{
	struct mount list[] = {
		{ 10, 1, .path = "/" },
		{ 11, 10, .path = "/x" },
		{ 12, 10, .path = "/x\x7f" },
		{ 13, 10, .path = "/x\xe9" },
		{ 14, 10, .path = "/x\xe9/below" },
		{ 15, 10, .path = "/x\xff" },
	};

	assert_ptr_equal(at(list, COUNT(list), "/x"), &list[1]);
	assert_ptr_equal(at(list, COUNT(list), "/x\xe9"), &list[3]);
	assert_ptr_equal(at(list, COUNT(list), "/x\xff"), &list[5]);
	assert_null(at(list, COUNT(list), "/x\xe9/below"));
}

/* No kernel shows such a list. */
static void test_circle(void **state)
{
	struct mount list[] = {
		{ 10, 10, .path = "/" },
		{ 11, 10, .path = "/gone//deleted" },
		{ 13, 12, .path = "/a/b" },
		{ 12, 13, .path = "/a/b" },
		{ 14, 99, .path = "elsewhere" },
	};

	assert_ptr_equal(at(list, COUNT(list), "/"), &list[0]);
	assert_null(at(list, COUNT(list), "/a/b"));
	assert_null(at(list, COUNT(list), "/gone//deleted"));
	assert_null(at(list, COUNT(list), "elsewhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a mount is found at its mount point, and nowhere else", test_plain),
		TEST("a mount over another one hides it and the mounts on it", test_covered),
		TEST("a mount over a directory hides the mounts below that", test_cut_off),
		TEST("paths with bytes of any value are found", test_foreign),
		TEST("mounts that lead nowhere end", test_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
