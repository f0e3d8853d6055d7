// SPDX-License-Identifier: GPL-2.0-only
/* Words, requests and answers of ledgers like the golden vectors, and frames that are none. */
#include <endian.h>
#include <stdlib.h>
#include <unistd.h>

#include <libdart/ledger/ledger_reader.h>
#include <libdart/report/ledger_target.h>

#include "selftests/unit/libdart/target_load.h"

#define VECTORS "selftests/vectors/ledger.json"

static int load(void **state)
{
	return load_vectors(VECTORS);
}

/* Loads a file with @ledgers; the caller knows whether it is valid. */
static int load_targets(json_t *ledgers, const char *address, struct dart_ledger_target *target,
			struct dart_error *error)
{
	char path[] = TARGET_FILE;
	int ret;

	write_targets(path, "ledgers", ledgers);
	ret = dart_ledger_target__load(path, reporter_of(address), target, error);
	unlink(path);
	return ret;
}

static void load_target(json_t *vector, struct dart_ledger_target *target)
{
	json_t *ledgers = json_pack("[O]", json_object_get(vector, "ledger"));
	struct dart_error error;

	if (load_targets(ledgers, "10.0.0.2", target, &error))
		fail_msg("%s", error.text);
	json_decref(ledgers);
}

/* ---- words */

static void compare_words(json_t *vector, const struct dart_ledger_geometry *geometry)
{
	const struct bytes key = bytes(vector, "key");
	struct dart_store_place place;
	struct dart_store_hash *hash;
	uint32_t row;

	assert_int_equal(dart_ledger_geometry__length(geometry), number(vector, "length"));
	assert_int_equal(dart_ledger_geometry__hash(geometry, &hash), 0);
	dart_store_hash__place(hash, key.data, key.length, &place);
	assert_int_equal(place.checksum, number(vector, "cache"));
	for (row = 0; row <= geometry->rows; row++) {
		uint64_t crc = row < geometry->rows ? place.slots[row] : 0;
		json_t *offset = json_array_get(json_object_get(vector, "offsets"), row);

		assert_int_equal(dart_ledger_geometry__offset(geometry, row, crc),
				 json_integer_value(offset));
	}
	dart_store_hash__free(hash);
}

static void test_words(void **state)
{
	struct dart_ledger_target target;
	json_t *vector;
	size_t i;

	json_array_foreach(vectors, i, vector) {
		load_target(vector, &target);
		compare_words(vector, &target.geometry);
	}
}

/* Asks memory in which the words of the vector's key are 100, 99, ... and the total is @total. */
static void ask(json_t *vector, const struct dart_ledger_geometry *geometry, uint64_t total,
		struct dart_ledger_sum *sum)
{
	const struct bytes key = bytes(vector, "key");
	const json_t *offsets = json_object_get(vector, "offsets");
	uint64_t *memory = calloc(1, dart_ledger_geometry__length(geometry));
	struct dart_ledger_reader *reader;
	struct dart_error error;
	uint32_t row;

	assert_non_null(memory);
	for (row = 0; row <= geometry->rows; row++)
		memory[json_integer_value(json_array_get(offsets, row)) / 8] =
			htole64(row < geometry->rows ? 100 - row : total);
	assert_int_equal(dart_ledger_reader__map(geometry, memory, &reader), 0);
	assert_int_equal(dart_ledger_reader__ask(reader, key.data, key.length, 1, sum, &error), 0);
	dart_ledger_reader__close(reader);
	free(memory);
}

static void test_asking(void **state)
{
	struct dart_ledger_target target;
	struct dart_ledger_sum sum;
	json_t *vector;
	size_t i;

	json_array_foreach(vectors, i, vector) {
		load_target(vector, &target);
		if (target.geometry.words_log2 > 16)
			continue;
		ask(vector, &target.geometry, 1000000, &sum);
		assert_int_equal(sum.sum, 101 - target.geometry.rows);
		assert_int_equal(sum.total, 1000000);
		assert_int_equal(sum.epsilon, 2000000 >> target.geometry.words_log2);
		assert_int_equal(sum.words[0], 100);
	}
	load_target(json_array_get(vectors, 0), &target);
	ask(json_array_get(vectors, 0), &target.geometry, UINT64_MAX, &sum);
	assert_true(sum.epsilon == UINT64_MAX >> 15);
}

/* ---- frames */

static void test_requests(void **state)
{
	const uint8_t mac[] = { 0x52, 0x54, 0, 0, 0, 2 };
	struct dart_ledger_target target;
	uint8_t frame[DART_LEDGER_FRAME];
	json_t *vector;
	size_t i;

	json_array_foreach(vectors, i, vector) {
		const struct bytes expected = bytes(vector, "frame");
		const struct dart_ledger_operation operation = {
			.offset = number(vector, "offset"),
			.amount = strtoull(text(vector, "amount"), NULL, 16),
			.psn = number(vector, "psn"),
		};

		load_target(vector, &target);
		dart_ledger_target__frame(&target, mac, &operation, frame);
		assert_int_equal(expected.length, sizeof(frame));
		assert_memory_equal(frame, expected.data, sizeof(frame));
	}
}

static const struct {
	const char *name;
	enum dart_roce_answer_kind kind;
} answers[] = {
	{ "acknowledged", DART_ROCE_ACKNOWLEDGED },
	{ "not_ready", DART_ROCE_NOT_READY },
	{ "out_of_sequence", DART_ROCE_OUT_OF_SEQUENCE },
	{ "refused", DART_ROCE_REFUSED },
};

#define ANSWERS (sizeof(answers) / sizeof(*answers))

/* Reads the answer in @text, cut off after @most bytes, and with bit @flipped changed. */
static int read_answer(const struct dart_ledger_target *target, const json_t *text, size_t most,
		       size_t flipped, struct dart_roce_answer *answer)
{
	json_t *vector = json_pack("{s:O}", "frame", (json_t *)text);
	struct bytes frame = bytes(vector, "frame");
	uint8_t *copy;
	int ret;

	json_decref(vector);
	if (frame.length > most)
		frame.length = most;
	if (flipped < 8 * frame.length)
		frame.data[flipped / 8] ^= 1 << flipped % 8;
	copy = malloc(frame.length + 1);
	assert_non_null(copy);
	memcpy(copy, frame.data, frame.length);
	ret = dart_ledger_target__read_answer(target, copy, frame.length, answer);
	free(copy);
	return ret;
}

static void test_answers(void **state)
{
	struct dart_ledger_target target;
	struct dart_roce_answer answer;
	size_t i, kind, n, read = 0;
	json_t *vector, *text;

	json_array_foreach(vectors, i, vector) {
		load_target(vector, &target);
		for (kind = 0; kind < ANSWERS; kind++) {
			json_array_foreach(json_object_get(vector, answers[kind].name), n, text) {
				assert_int_equal(
					read_answer(&target, text, SIZE_MAX, SIZE_MAX, &answer), 0);
				assert_int_equal(answer.kind, answers[kind].kind);
				assert_int_equal(answer.psn, number(vector, "psn"));
				read++;
			}
		}
	}
	assert_true(read > 800);
}

/* Bits of Ethernet's addresses, and those that the ICRC leaves out because routers change them. */
static bool may_change(size_t byte)
{
	return byte < 12 || byte == 15 || byte == 22 || byte == 24 || byte == 25 || byte == 40 ||
	       byte == 41 || byte == 46;
}

static void test_no_answers(void **state)
{
	json_t *vector = json_array_get(vectors, 0), *text, *request;
	struct dart_ledger_target target, other;
	struct dart_roce_answer answer;
	size_t i, kind, length;

	load_target(vector, &target);
	for (kind = 0; kind < ANSWERS; kind++) {
		text = json_array_get(json_object_get(vector, answers[kind].name), 0);
		length = json_string_length(text) / 2;
		for (i = 0; i < length; i++)
			assert_int_not_equal(read_answer(&target, text, i, SIZE_MAX, &answer), 0);
		for (i = 0; i < 8 * length; i++)
			if (!may_change(i / 8))
				assert_int_not_equal(
					read_answer(&target, text, SIZE_MAX, i, &answer), 0);
	}
	other = target;
	other.collector.qpn++;
	assert_int_not_equal(read_answer(&other, text, SIZE_MAX, SIZE_MAX, &answer), 0);
	other = target;
	other.collector.ip.s_addr++;
	assert_int_not_equal(read_answer(&other, text, SIZE_MAX, SIZE_MAX, &answer), 0);
	other = target;
	other.collector.reporter.s_addr++;
	assert_int_not_equal(read_answer(&other, text, SIZE_MAX, SIZE_MAX, &answer), 0);
	request = json_object_get(vector, "frame");
	assert_int_not_equal(read_answer(&target, request, SIZE_MAX, SIZE_MAX, &answer), 0);
}

/* ---- geometries and files */

static void test_geometry(void **state)
{
	static const struct dart_ledger_geometry good = { 2, 16 };
	static const struct dart_ledger_geometry bad[] = {
		{ 0, 16 }, { 9, 16 }, { 2, 3 }, { 2, 29 }
	};
	struct dart_ledger_reader *reader;
	size_t i;

	assert_int_equal(dart_ledger_geometry__check(&good), 0);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_not_equal(dart_ledger_geometry__check(&bad[i]), 0);
		assert_int_not_equal(dart_ledger_reader__map(&bad[i], NULL, &reader), 0);
	}
}

static void refuse(json_t *both, json_t *one, const char *member, json_t *value, const char *reason)
{
	json_t *before = json_incref(json_object_get(one, member));
	struct dart_ledger_target target;
	struct dart_error error;

	json_object_set_new(one, member, value);
	assert_int_not_equal(load_targets(both, "10.0.0.3", &target, &error), 0);
	assert_non_null(strstr(error.text, reason));
	if (before)
		json_object_set_new(one, member, before);
	else
		json_object_del(one, member);
}

static void test_files(void **state)
{
	json_t *one = json_deep_copy(json_object_get(json_array_get(vectors, 0), "ledger"));
	json_t *other = json_deep_copy(one), *both = json_pack("[o, o]", one, other);
	struct dart_ledger_target target;
	struct dart_error error;
	json_t *written;

	json_object_set_new(other, "reporter", json_string("10.0.0.3"));
	assert_int_equal(load_targets(both, "10.0.0.3", &target, &error), 0);
	written = dart_ledger_target__to_json(&target);
	assert_true(json_equal(written, other));
	json_decref(written);
	assert_int_not_equal(load_targets(both, "0.0.0.0", &target, &error), 0);
	assert_non_null(strstr(error.text, "several ledgers or adders"));
	assert_int_not_equal(load_targets(both, "10.0.0.4", &target, &error), 0);
	assert_non_null(strstr(error.text, "no ledger takes amounts from 10.0.0.4"));
	refuse(both, one, "rows", json_integer(9), "ledgers[0]: a ledger cannot have this");
	refuse(both, one, "words_log2", json_integer(-1), "a ledger cannot have this geometry");
	refuse(both, one, "base", json_string("0x3a5f00000004"), "base is not a multiple of 8");
	refuse(both, one, "base", json_string("0xffffffffffffff00"), "ends beyond all addresses");
	refuse(both, one, "shares", json_string("0-1023"), "it has members that no ledger has");
	json_decref(both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the words of keys lie where the golden vectors say", test_words),
		TEST("the sum of a key is its least word, and epsilon is 2 total / 2^w",
		     test_asking),
		TEST("requests are like those of the golden vectors", test_requests),
		TEST("answers say what the golden vectors say", test_answers),
		TEST("short, changed and foreign frames are no answers", test_no_answers),
		TEST("impossible geometries are refused", test_geometry),
		TEST("files of ledgers are read, checked and written", test_files),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
