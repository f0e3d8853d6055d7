// SPDX-License-Identifier: GPL-2.0-only
/* The room that the schemas of a user take in the table, beside the users' entries. */
#include "registry_slices.h"

/* Of the smallest table that dartd makes. */
#define ROOM (4 << 20)
#define SLICES_MAX 4096
#define SLICE 64
#define USER 1000
#define OTHER_USER 1001

/* A schema that takes 18 KiB in the table; other numbers make other schemas. */
static struct dart_schema *large_schema(unsigned int number)
{
	struct dart_schema *schema = dart_schema__new("large", SLICE);
	char name[DART_CONTROL_NAME_MAX];
	struct dart_field field = {
		.name = name,
		.unit = (char *)"",
		.width = 1,
		.count = 1,
		.kind = DART_CONTROL_FIELD_GAUGE,
	};

	assert_non_null(schema);
	memset(name, 'x', sizeof(name));
	for (field.offset = 0; field.offset < SLICE; field.offset++) {
		snprintf(name + sizeof(name) - 16, 16, "_%u_%u", number, field.offset);
		assert_int_equal(dart_schema__add(schema, &field), 0);
	}
	return schema;
}

/* Memory for the slices, of which a test has as many as it needs. */
struct memory {
	int fd;
	uint32_t used; /* bytes */
};

static int add(struct memory *memory, uid_t uid, struct dart_schema *schema,
	       struct dart_error *error)
{
	static unsigned int number;
	char name[24];
	struct slice_request asked = {
		.name = name,
		.owner = uid,
		.schema = schema,
		.has_memory = memory->fd < 0,
		.memory = MEMORY,
		.offset = memory->used,
		.fd = memory->fd,
	};
	struct entry *entry;
	int new_fd, ret;

	snprintf(name, sizeof(name), "slice-%u", number++);
	ret = registry__add_slice(&registry, &asked, &new_fd, &entry, error);
	if (ret)
		return ret;
	inventory__set_owner(&registry.inventory, entry, uid);
	memory->fd = entry->arena->id;
	memory->used += SLICE;
	if (memory->used == MEMORY)
		*memory = (struct memory){ .fd = -1 };
	return 0;
}

static int open_room(void **state)
{
	open_registry(DART_CONTROL_EXPOSURE_EXACT, ROOM);
	*state = &registry;
	return 0;
}

static void test_large(void **state)
{
	struct memory memory = { .fd = -1 }, other = { .fd = -1 }, roots = { .fd = -1 };
	struct dart_error error;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < SLICES_MAX; i++)
		ret = add(&memory, USER, large_schema(i), &error);
	assert_int_equal(ret, -EDQUOT);
	assert_non_null(strstr(error.text, "for the size of its schema"));
	assert_in_range(control_region.used, ROOM / 4, ROOM / 2);
	assert_int_equal(add(&other, OTHER_USER, large_schema(SLICES_MAX), &error), 0);
	assert_int_equal(add(&roots, 0, large_schema(SLICES_MAX + 1), &error), 0);
}

/* The table has equal schemas once. */
static void test_equal(void **state)
{
	struct memory memory = { .fd = -1 };
	struct entry *entry, *first = NULL;
	struct quota_user *user;
	struct dart_error error;
	unsigned int i;
	uint32_t before;

	assert_int_equal(add(&memory, USER, large_schema(0), &error), 0);
	user = SLIST_FIRST(&registry.inventory.quotas.users);
	before = user->entries;
	assert_in_range(before, 1 + 16 * 1024 / SCHEMA_SHARE_BYTES,
			1 + 20 * 1024 / SCHEMA_SHARE_BYTES);
	for (i = 0; i < 1000; i++)
		assert_int_equal(add(&memory, USER, large_schema(0), &error), 0);
	assert_int_equal(user->entries, before + 1000);

	/* The last entry with the schema takes its charge with it. */
	TAILQ_FOREACH(entry, &registry.inventory.entries, link)
		if (entry->owner == USER && !first)
			first = entry;
	assert_int_equal(registry__remove(&registry, first, &error), 0);
	end_leases();
	assert_int_equal(user->entries, before + 999);
}

/* A schema that a user no longer has makes room for another one. */
static void test_replaced(void **state)
{
	struct dart_error error;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		struct memory memory = { .fd = -1 };
		struct entry *entry;

		assert_int_equal(add(&memory, USER, large_schema(i), &error), 0);
		entry = TAILQ_LAST(&registry.inventory.entries, entries);
		assert_int_equal(registry__remove(&registry, entry, &error), 0);
		end_leases();
	}
	assert_true(SLIST_EMPTY(&registry.inventory.quotas.users));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("the schemas of one user leave half of the table to others",
			     test_large, open_room, close_empty),
		TEST_FIXTURE("equal schemas of a user count once", test_equal, open_room,
			     close_empty),
		TEST_FIXTURE("a schema counts as long as an entry has it", test_replaced, open_room,
			     close_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
