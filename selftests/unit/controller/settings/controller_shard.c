// SPDX-License-Identifier: GPL-2.0-only
/* Members that share targets out: each target has its members, and few targets move. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/controller/settings/shard.h"

#define TARGETS 10000

static const char *name_of(unsigned int target)
{
	static char name[32];

	snprintf(name, sizeof(name), "10.1.%u.%u:4792", target >> 8, target & 255);
	return name;
}

/* The first member of a target. */
static unsigned int first_of(const struct membership *members, const char *name)
{
	unsigned int member = 1;

	while (membership__rank(members, name, member))
		member++;
	return member;
}

/* Controllers of all versions must agree. */
static void test_function(void **state)
{
	static const struct {
		const char *name;
		unsigned int order[4];
	} known[] = {
		{ "10.0.0.1:4792", { 2, 1, 4, 3 } },
		{ "web-1:4000", { 2, 3, 1, 4 } },
		{ "[2001:db8::1]:4793", { 4, 1, 2, 3 } },
	};
	const struct membership members = { .shard.members = 4 };
	size_t i, rank;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		for (rank = 0; rank < 4; rank++)
			assert_int_equal(membership__rank(&members, known[i].name,
							  known[i].order[rank]),
					 rank);
	}
}

/* Each target has as many members as wanted, and members have equal parts, within five sigma. */
static void test_parts(void **state)
{
	const struct membership members = { .shard.members = 5 };
	unsigned int parts[6] = {}, target, member, count;

	for (target = 0; target < TARGETS; target++) {
		count = 0;
		for (member = 1; member <= 5; member++) {
			parts[member] += membership__has(&members, name_of(target), member, 2);
			count += membership__has(&members, name_of(target), member, 2);
		}
		assert_int_equal(count, 2);
	}
	for (member = 1; member <= 5; member++)
		assert_in_range(parts[member], 4000 - 245, 4000 + 245);
}

/* A fifth member takes its part, and takes nothing else from anybody. */
static void test_new_member(void **state)
{
	const struct membership before = { .shard.members = 4 }, after = { .shard.members = 5 };
	unsigned int target, first, moved = 0;

	for (target = 0; target < TARGETS; target++) {
		first = first_of(&after, name_of(target));
		if (first == first_of(&before, name_of(target)))
			continue;
		assert_int_equal(first, 5);
		moved++;
	}
	assert_in_range(moved, TARGETS / 5 - 200, TARGETS / 5 + 200);
}

static void test_no_members(void **state)
{
	const struct membership none = {};

	assert_true(membership__has(&none, "a:1", 7, 0));
	assert_int_equal(membership__role(&none, "a:1", 0), SHARD_OWN);
}

#define SHARD(number, count, copies, standby)					\
	{									\
		.member = (number), .members = (count), .replication = (copies), \
		.standby_ns = (standby),					\
	}

static void test_check(void **state)
{
	static char file[] = "/run/members.json";
	static const struct {
		struct shard shard;
		const char *reason; /* NULL: it is valid */
	} cases[] = {
		{ {}, NULL },
		{ SHARD(1, 1, 1, 0), NULL },
		{ SHARD(3, 3, 0, 0), NULL },
		{ SHARD(0, 0, 0, 5), "needs 'members'" },
		{ SHARD(2, 3, 3, 0), NULL },
		{ SHARD(1, 0, 0, 0), "needs 'members'" },
		{ SHARD(0, 0, 2, 0), "needs 'members'" },
		{ SHARD(0, 3, 0, 0), "needs 'member'" },
		{ { .member = 1, .file = file }, NULL },
		{ { .member = 1, .file = file, .replication = 3, .handover_ns = 1 }, NULL },
		{ { .file = file }, "needs 'member'" },
		{ { .member = 1, .members = 2, .file = file }, "not both" },
		{ { .handover_ns = 1 }, "or 'members_file'" },
		{ SHARD(4, 3, 0, 0), "no member 4 of 3" },
		{ SHARD(1, 3, 4, 0), "lower 'replication'" },
	};
	struct dart_error error;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ret = shard__check(&cases[i].shard, &error);
		assert_int_equal(ret, cases[i].reason ? -EINVAL : 0);
		assert_true(!ret || strstr(error.text, cases[i].reason));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the order of members is that of other versions", test_function),
		TEST("all targets have their members, which have equal parts", test_parts),
		TEST("a new member takes its part, and no other target moves", test_new_member),
		TEST("without members all targets are scraped", test_no_members),
		TEST("a shard without its numbers is refused", test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
