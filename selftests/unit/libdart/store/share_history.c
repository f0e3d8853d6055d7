// SPDX-License-Identifier: GPL-2.0-only
/* Shares move between collectors; files that say so are read, others are refused. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>
#include <libdart/store/share_history.h>
#include <libdart/store/store_hash.h>

#include "selftests/unit/unit.h"

static struct in_addr address(const char *text)
{
	struct in_addr address;

	assert_int_equal(inet_pton(AF_INET, text, &address), 1);
	return address;
}

static struct dart_share_set set_of(const char *text)
{
	struct dart_share_set set;

	assert_int_equal(dart_share_set__parse(text, &set), 0);
	return set;
}

static void move(struct dart_share_history *history, const char *shares, const char *to,
		 uint64_t now_ms, int moved)
{
	const struct dart_share_set set = set_of(shares);

	assert_int_equal(dart_share_history__move(history, &set, address(to), now_ms), moved);
}

static void assert_owner(const struct dart_share_history *history, uint32_t share, uint32_t index,
			 const char *collector, uint64_t since_ms, uint64_t until_ms)
{
	struct dart_share_owner owners[DART_SHARE_OWNERS_MAX];

	assert_true(dart_share_history__owners(history, share, owners) > index);
	assert_int_equal(owners[index].collector.s_addr, address(collector).s_addr);
	assert_int_equal(owners[index].since_ms, since_ms);
	assert_int_equal(owners[index].until_ms, until_ms);
}

static void test_sets(void **state)
{
	static const char *const refused[] = {
		"",	 ",",	 "1,",	  ",1",	   "-",	   "1-",   "-1",  "2-1",    "1024", "0-1024",
		"1-1-1", "1 - 2", "0x1", "+1", "00000", "99999", "1,1", "0-5,3", "1;2",	 "1,,2",
	};
	static const char *const same[] = { "0", "1023", "0-1023", "0-511,600,1000-1023", "1,3,5" };
	struct dart_share_set set;
	uint64_t random = 1;
	char *text, *again;
	uint32_t i, share;

	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		assert_int_equal(dart_share_set__parse(refused[i], &set), -EINVAL);
	for (i = 0; i < sizeof(same) / sizeof(*same); i++) {
		set = set_of(same[i]);
		text = dart_share_set__text(&set);
		assert_string_equal(text, same[i]);
		free(text);
	}
	/* The longest text is one of pairs. */
	for (i = 0; i < 1000; i++) {
		set = (struct dart_share_set){};
		for (share = 0; share < DART_STORE_SHARES; share++)
			if (i ? random__below(&random, 3) : share % 3)
				dart_share_set__add(&set, share);
		text = dart_share_set__text(&set);
		set = set_of(text);
		again = dart_share_set__text(&set);
		assert_string_equal(again, text);
		free(again);
		free(text);
	}
}

static void test_moves(void **state)
{
	struct in_addr collectors[DART_STORE_SHARES];
	struct dart_share_owner owners[DART_SHARE_OWNERS_MAX];
	struct dart_share_history *history;
	struct dart_share_set set;

	assert_int_equal(dart_share_history__new("", &history), -EINVAL);
	assert_int_equal(dart_share_history__new("paths", &history), 0);
	assert_int_equal(dart_share_history__owners(history, 5, owners), 0);
	move(history, "0-1023", "10.0.0.2", 1000, 1024);
	move(history, "100-199", "10.0.0.1", 2000, 100);
	assert_owner(history, 99, 0, "10.0.0.2", 1000, 0);
	assert_owner(history, 100, 0, "10.0.0.1", 2000, 0);
	assert_owner(history, 199, 1, "10.0.0.2", 1000, 2000);
	assert_owner(history, 200, 0, "10.0.0.2", 1000, 0);
	assert_int_equal(dart_share_history__collectors(history, collectors), 2);
	assert_int_equal(collectors[0].s_addr, address("10.0.0.1").s_addr);
	dart_share_history__shares(history, address("10.0.0.1"), &set);
	assert_int_equal(dart_share_set__count(&set), 100);

	/* Shares that are there keep their time, and others move. */
	move(history, "150-249", "10.0.0.1", 3000, 50);
	assert_owner(history, 150, 0, "10.0.0.1", 2000, 0);
	assert_owner(history, 249, 0, "10.0.0.1", 3000, 0);
	move(history, "150-249", "10.0.0.1", 3500, 0);

	/* A clock that goes back does not change the order. */
	move(history, "150", "10.0.0.2", 10, 1);
	assert_owner(history, 150, 0, "10.0.0.2", 3001, 0);
	assert_owner(history, 150, 1, "10.0.0.1", 2000, 3001);

	/* A collector without shares is none any more. */
	move(history, "0-1023", "10.0.0.3", 5000, 1024);
	assert_int_equal(dart_share_history__collectors(history, collectors), 1);
	dart_share_history__free(history);
}

/* A file that is written and read again says the same. */
static struct dart_share_history *again(struct dart_share_history *history)
{
	struct dart_share_history *copy;
	struct dart_error error;
	json_t *json = dart_share_history__to_json(history);

	assert_non_null(json);
	assert_true(dart_share_history__is_in(json));
	assert_int_equal(dart_share_history__take(json, "it", &copy, &error), 0);
	json_decref(json);
	dart_share_history__free(history);
	return copy;
}

/* Beside a plain list for each share. */
static void test_random_moves(void **state)
{
	static const char *const names[] = { "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4" };
	static struct {
		uint32_t list[1000], count;
	} shares[DART_STORE_SHARES];
	struct dart_share_owner owners[DART_SHARE_OWNERS_MAX];
	struct dart_share_history *history;
	uint64_t random = 9, now_ms = 1;
	struct dart_share_set set;
	uint32_t i, share, to, count;

	memset(shares, 0, sizeof(shares));
	assert_int_equal(dart_share_history__new("paths", &history), 0);
	for (i = 0; i < 800; i++) {
		const uint32_t first = random__below(&random, DART_STORE_SHARES);
		const uint32_t length = 1 + random__below(&random, i % 7 ? 20 : 1000);

		set = (struct dart_share_set){};
		to = random__below(&random, 4);
		for (share = first; share < first + length && share < DART_STORE_SHARES; share++) {
			dart_share_set__add(&set, share);
			if (!shares[share].count ||
			    shares[share].list[shares[share].count - 1] != to)
				shares[share].list[shares[share].count++] = to;
		}
		assert_true(dart_share_history__move(history, &set, address(names[to]),
						     now_ms++) >= 0);
		if (i % 200 == 0)
			history = again(history);
	}
	for (share = 0; share < DART_STORE_SHARES; share++) {
		count = dart_share_history__owners(history, share, owners);
		assert_int_equal(count, shares[share].count < DART_SHARE_OWNERS_MAX ?
						shares[share].count : DART_SHARE_OWNERS_MAX);
		for (i = 0; i < count; i++) {
			to = shares[share].list[shares[share].count - 1 - i];
			assert_int_equal(owners[i].collector.s_addr, address(names[to]).s_addr);
			assert_int_equal(owners[i].until_ms, i ? owners[i - 1].since_ms : 0);
		}
	}
	dart_share_history__free(history);
}

static void test_refused_files(void **state)
{
#define FILE_OF(moves) "{\"dart_shares\": 1, \"store\": \"s\", \"moves\": [" moves "]}"
#define MOVE(shares, collector, since) \
	"{\"shares\": \"" shares "\", \"collector\": \"" collector "\", \"since_ms\": " since "}"
	static const char *const files[] = {
		"{\"dart_shares\": 2, \"store\": \"s\", \"moves\": []}",
		"{\"dart_shares\": 1, \"store\": \"\", \"moves\": []}",
		"{\"dart_shares\": 1, \"store\": \"s\", \"moves\": {}}",
		"{\"dart_shares\": 1, \"store\": \"s\", \"moves\": [], \"more\": 1}",
		"{\"dart_shares\": 1, \"moves\": []}",
		FILE_OF("1"),
		FILE_OF("{}"),
		FILE_OF(MOVE("5-4", "10.0.0.1", "1")),
		FILE_OF(MOVE("5", "10.0.0", "1")),
		FILE_OF(MOVE("5", "0.0.0.0", "1")),
		FILE_OF(MOVE("5", "10.0.0.1", "0")),
		FILE_OF(MOVE("5", "10.0.0.1", "-1")),
		FILE_OF(MOVE("5", "10.0.0.1", "9223372036854775807")),
		/* In ns it has 64 bits. */
		FILE_OF(MOVE("5", "10.0.0.1", "9223372036855")),
		FILE_OF(MOVE("5", "10.0.0.1", "1.5")),
		FILE_OF(MOVE("5", "10.0.0.1", "7") "," MOVE("6", "10.0.0.1", "6")),
		FILE_OF(MOVE("5", "10.0.0.1", "7") "," MOVE("5", "10.0.0.2", "7")),
	};
	struct dart_share_history *history;
	struct dart_error error;
	json_t *json;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		json = json_loads(files[i], 0, NULL);
		assert_non_null(json);
		assert_int_equal(dart_share_history__take(json, "it", &history, &error), -EINVAL);
		assert_int_equal(strncmp(error.text, "it", 2), 0);
		json_decref(json);
	}
	json = json_loads(FILE_OF(MOVE("5", "10.0.0.1", "7") "," MOVE("6", "10.0.0.2", "7")), 0,
			  NULL);
	assert_int_equal(dart_share_history__take(json, "it", &history, &error), 0);
	assert_owner(history, 6, 0, "10.0.0.2", 7, 0);
	dart_share_history__free(history);
	json_decref(json);
}

/* The share of a key is the same with and without a geometry. */
static void test_share_of_key(void **state)
{
	const struct dart_store_geometry geometry = {
		.slots = 1 << 10, .value_length = 20, .checksum_bits = 32, .redundancy = 2
	};
	struct dart_store_hash *hash;
	struct dart_store_place place;
	uint8_t key[DART_STORE_KEY_MAX];
	uint64_t random = 4;
	size_t length, i;

	assert_int_equal(dart_store_hash__new(&geometry, &hash), 0);
	for (length = 1; length <= sizeof(key); length++) {
		for (i = 0; i < length; i++)
			key[i] = random__below(&random, 256);
		dart_store_hash__place(hash, key, length, &place);
		assert_int_equal(dart_store__share(key, length), place.share);
	}
	dart_store_hash__free(hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a list of shares is parsed and printed, and others are refused", test_sets),
		TEST("a share is with the collector of its last move, and its former ones are known",
		     test_moves),
		TEST("after thousands of moves, in files and memory, the last sixteen owners are right",
		     test_random_moves),
		TEST("files of shares that are wrong are refused with a sentence", test_refused_files),
		TEST("the share of a key does not depend on the store", test_share_of_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
