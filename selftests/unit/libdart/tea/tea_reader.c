// SPDX-License-Identifier: GPL-2.0-only
/* Lookups by READ in a table of a host that is memory of this process. */
#include <libdart/tea/tea_reader.h>

#include <libdart/random.h>

#include "tea_server.h"

enum {
	CONSTANT = 60,		/* keys with a permanent entry */
	KEYS = 160,
	LOOKUPS = 3000,
};

static const struct dart_tea_geometry geometry = {
	.rows_log2 = 5, .cells = 2, .key_length = 13, .value_length = 7,
	.packet_length = 64,
};

/* A host with one table, which changes while it is READ. */
struct host {
	struct tea_server server; /* first */
	struct dart_random random;
};

static struct host *host__new(void)
{
	struct host *host = calloc(1, sizeof(*host));

	assert_non_null(host);
	tea_server__open(&host->server, &geometry);
	host->random = dart_random__of(8);
	return host;
}

static void host__free(struct host *host)
{
	tea_server__close(&host->server);
	free(host);
}

static struct dart_tea_reader *open_reader(void)
{
	struct dart_tea_reader *reader;
	struct dart_error error;

	if (dart_tea_reader__open("10.0.0.0", 7174, "nat", &reader, &error))
		fail_msg("%s", error.text);
	return reader;
}

static void change(struct simulated_host *of)
{
	struct host *host = (struct host *)of;
	const uint32_t key = dart_random__below(&host->random, KEYS);

	if (key < CONSTANT || dart_random__below(&host->random, 2))
		tea_model__insert(&host->server.model, key, dart_random__below(&host->random, 1 << 16));
	else
		tea_model__remove(&host->server.model, key);
}

static void make_keys(uint8_t *keys, uint32_t count, uint32_t first)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		tea_model__bytes((first + i) % KEYS, keys + i * geometry.key_length,
				 geometry.key_length);
}

/* The bytes of a value of the model belong together. */
static bool is_value(const uint8_t *value)
{
	uint8_t expected[DART_TEA_VALUE_MAX];

	tea_model__bytes(value[0] | value[1] << 8, expected, geometry.value_length);
	return !memcmp(expected, value, geometry.value_length);
}

static void fill(struct host *host)
{
	struct dart_tea_statistics statistics;
	uint32_t key;

	for (key = 0; key < CONSTANT; key++)
		assert_true(tea_model__insert(&host->server.model, key, key) >= 0);
	for (; key < 120; key++)
		tea_model__insert(&host->server.model, key, key);
	dart_tea_table__statistics(host->server.model.table, &statistics);
	assert_true(statistics.stashed);
}

static void test_lookups(void **state)
{
	struct host *host = host__new();
	struct dart_tea_answer *answers = calloc(LOOKUPS, sizeof(*answers));
	uint8_t *keys = malloc(LOOKUPS * geometry.key_length);
	uint8_t expected[DART_TEA_VALUE_MAX], value[DART_TEA_VALUE_MAX];
	struct dart_tea_reader *reader;
	struct dart_error error;
	uint32_t i;

	assert_true(answers && keys);
	fill(host);
	reader = open_reader();
	assert_memory_equal(dart_tea_reader__geometry(reader), &geometry, sizeof(geometry));
	make_keys(keys, LOOKUPS, 0);
	assert_int_equal(dart_tea__lookup_batch(reader, keys, LOOKUPS, answers, &error), 0);
	for (i = 0; i < LOOKUPS; i++) {
		const int32_t number = host->server.model.values[i % KEYS];

		assert_int_equal(answers[i].ret, number < 0 ? -ENOENT : 0);
		if (i < KEYS)
			assert_int_equal(dart_tea__lookup(
				reader, keys + i * geometry.key_length, value,
				&error), answers[i].ret);
		if (number < 0)
			continue;
		tea_model__bytes(number, expected, geometry.value_length);
		assert_memory_equal(answers[i].value, expected, geometry.value_length);
		if (i < KEYS)
			assert_memory_equal(value, expected, geometry.value_length);
	}
	assert_int_equal(dart_tea__lookup_batch(reader, keys, 0, answers, &error), 0);
	dart_tea_reader__close(reader);
	free(keys);
	free(answers);
	host__free(host);
}

static void test_changes(void **state)
{
	struct host *host = host__new();
	struct dart_tea_answer *answers = calloc(LOOKUPS, sizeof(*answers));
	uint8_t *keys = malloc(LOOKUPS * geometry.key_length);
	struct dart_tea_reader *reader;
	uint32_t round, i, missing = 0;
	struct dart_error error;

	assert_true(answers && keys);
	fill(host);
	host->server.host.go_on = change;
	reader = open_reader();
	for (round = 0; round < 10; round++) {
		make_keys(keys, LOOKUPS, round);
		assert_int_equal(dart_tea__lookup_batch(reader, keys, LOOKUPS, answers, &error), 0);
		for (i = 0; i < LOOKUPS; i++) {
			if (!answers[i].ret) {
				assert_true(is_value(answers[i].value));
				continue;
			}
			assert_int_equal(answers[i].ret, -ENOENT);
			assert_true((round + i) % KEYS >= CONSTANT);
			missing++;
		}
	}
	assert_true(missing);
	dart_tea_reader__close(reader);
	free(keys);
	free(answers);
	host__free(host);
}

static void test_abandoned(void **state)
{
	struct host *host = host__new();
	struct dart_tea_reader *reader;
	uint8_t key[13], value[7];
	struct dart_error error;
	uint64_t row;

	reader = open_reader();
	for (row = 0; row < dart_tea_geometry__rows(&geometry); row++)
		host->server.model.memory[row * dart_tea_geometry__stride(&geometry) + 3] = 1;
	make_keys(key, 1, 0);
	assert_int_equal(dart_tea__lookup(reader, key, value, &error), -EAGAIN);

	/* A row of another epoch, as if from another table. */
	for (row = 0; row < dart_tea_geometry__rows(&geometry); row++) {
		uint8_t *bytes = host->server.model.memory + row * dart_tea_geometry__stride(&geometry);

		bytes[3] = 0;
		bytes[7] ^= 1;
	}
	assert_int_equal(dart_tea__lookup(reader, key, value, &error), -EAGAIN);

	host->server.host.values.rkey++;
	assert_int_equal(dart_tea__lookup(reader, key, value, &error), -EACCES);
	dart_tea_reader__close(reader);
	host__free(host);
}

static void test_hostile_answers(void **state)
{
	struct host *host = host__new();
	const struct dart_tea_accept good = host->server.accept;
	struct dart_tea_accept bad[] = {
		good, good, good, good, good, good, good, good, good, good, good,
	};
	struct dart_tea_reader *reader = NULL;
	struct dart_error error;
	size_t i;

	bad[0].rows_log2 = htole32(29);
	bad[1].rows_log2 = htole32(UINT32_MAX);
	bad[2].cells = 0;
	bad[3].cells = htole32(UINT32_MAX);
	bad[4].key_length = htole32(0x80000000);
	bad[5].value_length = htole32(65);
	bad[6].packet_length = htole32(UINT32_MAX);
	bad[7].epoch = 0;
	bad[8].epoch = htole32(DART_TEA_EPOCH_MAX + 1);
	bad[9].base = htole64(UINT64_MAX - 100);
	bad[10].magic = 0;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		host->server.accept = bad[i];
		assert_int_equal(dart_tea_reader__open("10.0.0.0", 7174, "nat", &reader, &error),
				 -EBADMSG);
	}
	host->server.accept = good;
	host->server.accept.abi_version = htole32(DART_TEA_ACCESS_ABI_VERSION + 1);
	assert_int_equal(dart_tea_reader__open("10.0.0.0", 7174, "nat", &reader,
					       &error), -EPROTONOSUPPORT);
	host->server.accept = good;
	for (i = 0; i < sizeof(good); i++) {
		host->server.host.answer_length = i;
		assert_int_equal(dart_tea_reader__open("10.0.0.0", 7174, "nat", &reader, &error),
				 -EBADMSG);
	}
	assert_int_equal(dart_tea_reader__open("10.0.0.0", 7174, "", &reader, &error), -EINVAL);
	assert_int_equal(dart_tea_reader__open("10.0.0.0", 7174,
					       "a-name-that-has-forty-characters-or-more", &reader,
					       &error),
			 -EINVAL);
	host__free(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a batch of lookups by READ finds what a table has, in rows and in the stash",
		     test_lookups),
		TEST("while the table changes before each READ, lookups find an old value or a new one",
		     test_changes),
		TEST("a row that stays as if it were changing ends a lookup, and so does a READ that is refused",
		     test_abandoned),
		TEST("answers of an agent that are short, or that no table can have, are refused",
		     test_hostile_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
