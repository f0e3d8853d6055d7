// SPDX-License-Identifier: GPL-2.0-only
/* Batches and frames of journals like the golden vectors, and batches that are none. */
#include <unistd.h>

#include <libdart/report/journal_target.h>

#include "selftests/unit/libdart/target_load.h"

#define VECTORS "selftests/vectors/journal.json"

static int load(void **state)
{
	return load_vectors(VECTORS);
}

/* Loads a file with @journals; the caller knows whether it is valid. */
static int load_targets(json_t *journals, const char *address, struct dart_journal_target *target,
			struct dart_error *error)
{
	char path[] = TARGET_FILE;
	int ret;

	write_targets(path, "journals", journals);
	ret = dart_journal_target__load(path, reporter_of(address), target, error);
	unlink(path);
	return ret;
}

static void load_target(json_t *vector, struct dart_journal_target *target)
{
	json_t *journals = json_pack("[O]", json_object_get(vector, "journal"));
	struct dart_error error;

	if (load_targets(journals, "10.0.0.2", target, &error))
		fail_msg("%s", error.text);
	json_decref(journals);
}

/* An appender to whose list @list the batch before that of @vector was the last one. */
static struct dart_journal_appender *
appender_before(json_t *vector, const struct dart_journal_geometry *geometry, uint32_t list)
{
	const uint32_t capacity = dart_journal_geometry__capacity(geometry);
	const uint8_t nothing[DART_JOURNAL_ENTRY_MAX] = {};
	struct dart_journal_appender *appender;
	struct dart_journal_write write;
	uint64_t i;

	assert_int_equal(dart_journal_appender__new(geometry, number(vector, "start"), &appender),
			 0);
	for (i = 1; i < number(vector, "sequence") * capacity - capacity + 1; i++)
		assert_int_equal(dart_journal_appender__append(appender, list, nothing, &write),
				 i % capacity == 0);
	return appender;
}

static void compare(json_t *vector, const struct dart_journal_target *target,
		    struct dart_journal_appender *appender)
{
	const struct bytes entries = bytes(vector, "entries"), batch = bytes(vector, "batch");
	const struct bytes expected = bytes(vector, "frame");
	const uint32_t list = number(vector, "list"), count = number(vector, "count");
	uint8_t mac[] = { 0x52, 0x54, 0, 0, 0, 2 }, frame[DART_JOURNAL_FRAME_MAX];
	struct dart_journal_write write = {};
	bool is_full = false;
	uint32_t i;

	for (i = 0; i < count; i++)
		is_full = dart_journal_appender__append(
			appender, list, entries.data + i * target->geometry.entry_length, &write);
	assert_int_equal(is_full, count == number(vector, "capacity"));
	if (!is_full)
		assert_true(dart_journal_appender__flush(appender, list, &write));
	assert_int_equal(write.length, batch.length);
	assert_memory_equal(write.bytes, batch.data, batch.length);
	assert_int_equal(write.offset, dart_journal_geometry__offset(&target->geometry, list,
								     number(vector, "place")));
	assert_int_equal(dart_journal_target__frame(target, mac, list, &write,
						    number(vector, "psn"), frame),
			 expected.length);
	assert_memory_equal(frame, expected.data, expected.length);
}

static void test_appender(void **state)
{
	struct dart_journal_target target;
	size_t i, compared = 0;
	json_t *vector;

	json_array_foreach(vectors, i, vector) {
		struct dart_journal_appender *appender;

		if (number(vector, "sequence") > 2000)
			continue;
		load_target(vector, &target);
		appender = appender_before(vector, &target.geometry, number(vector, "list"));
		compare(vector, &target, appender);
		dart_journal_appender__free(appender);
		compared++;
	}
	assert_true(compared > 100);
}

static void test_reading(void **state)
{
	json_t *vector;
	size_t i;

	json_array_foreach(vectors, i, vector) {
		const struct bytes content = bytes(vector, "batch");
		const struct bytes entries = bytes(vector, "entries");
		struct dart_journal_target target;
		struct dart_journal_batch batch;

		load_target(vector, &target);
		assert_int_equal(dart_journal_geometry__capacity(&target.geometry),
				 number(vector, "capacity"));
		assert_int_equal(dart_journal_batch__read(&target.geometry, content.data,
							  number(vector, "place"), &batch),
				 DART_JOURNAL_WHOLE);
		assert_true(batch.start == number(vector, "start"));
		assert_int_equal(batch.sequence, number(vector, "sequence"));
		assert_int_equal(batch.count, number(vector, "count"));
		assert_memory_equal(batch.entries, entries.data, entries.length);
		assert_int_equal(dart_journal_batch__read(&target.geometry, content.data,
							  number(vector, "place") ^ 1, &batch),
				 DART_JOURNAL_TORN);
	}
}

/* The first vectors, with each bit changed, and with each possible boundary of two batches. */
static void test_torn(void **state)
{
	struct dart_journal_target target;
	struct dart_journal_batch batch;
	uint8_t changed[64];
	size_t bit, i, cut;

	load_target(json_array_get(vectors, 0), &target);
	for (i = 0; i < 12; i++) {
		const struct bytes one = bytes(json_array_get(vectors, i), "batch");
		const struct bytes other = bytes(json_array_get(vectors, (i + 1) % 12), "batch");

		for (bit = 0; bit < 8 * one.length; bit++) {
			memcpy(changed, one.data, one.length);
			changed[bit / 8] ^= 1 << bit % 8;
			assert_int_equal(dart_journal_batch__read(&target.geometry, changed, 0,
								  &batch),
					 DART_JOURNAL_TORN);
		}
		for (cut = 0; cut <= one.length; cut++) {
			enum dart_journal_state state;

			memcpy(changed, one.data, cut);
			memcpy(changed + cut, other.data + cut, one.length - cut);
			state = dart_journal_batch__read(&target.geometry, changed, 0, &batch);
			assert_int_equal(state, memcmp(changed, one.data, 64) &&
								memcmp(changed, other.data, 64) ?
							DART_JOURNAL_TORN :
							DART_JOURNAL_WHOLE);
		}
	}
	memset(changed, 0, sizeof(changed));
	assert_int_equal(dart_journal_batch__read(&target.geometry, changed, 0, &batch),
			 DART_JOURNAL_EMPTY);
}

static void test_flush(void **state)
{
	struct dart_journal_appender *appender;
	struct dart_journal_write first, write;
	struct dart_journal_target target;

	load_target(json_array_get(vectors, 0), &target);
	assert_int_equal(dart_journal_appender__new(&target.geometry, 1, &appender), 0);
	assert_false(dart_journal_appender__flush(appender, 0, &write));
	assert_false(dart_journal_appender__append(appender, 0, "abcd", &write));
	assert_true(dart_journal_appender__flush(appender, 0, &first));
	assert_false(dart_journal_appender__flush(appender, 0, &write));
	assert_false(dart_journal_appender__append(appender, 0, "efgh", &write));
	assert_true(dart_journal_appender__flush(appender, 0, &write));
	assert_int_equal(write.offset, first.offset);
	assert_int_equal(write.bytes[DART_JOURNAL_COUNT], 2);
	dart_journal_appender__free(appender);
}

static void test_geometry(void **state)
{
	static const struct dart_journal_geometry good = { 8, 0, 10, 8, 41 };
	static const struct dart_journal_geometry bad[] = {
		{ 0, 0, 10, 8, 41 }, { 65, 0, 10, 8, 41 }, { 8, 17, 10, 8, 41 }, { 8, 0, 0, 8, 41 },
		{ 8, 0, 21, 8, 41 }, { 8, 0, 10, 5, 4 },   { 8, 0, 10, 11, 41 }, { 8, 0, 10, 8, 0 },
		{ 8, 0, 10, 8, 65 }, { 8, 0, 10, 6, 49 },
	};
	struct dart_journal_appender *appender;
	size_t i;

	assert_int_equal(dart_journal_geometry__check(&good), 0);
	assert_true(dart_journal_geometry__length(&good) == 8 << 18);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_not_equal(dart_journal_geometry__check(&bad[i]), 0);
	assert_int_not_equal(dart_journal_appender__new(&good, UINT64_C(1) << 48, &appender), 0);
}

static void test_files(void **state)
{
	json_t *one = json_deep_copy(json_object_get(json_array_get(vectors, 0), "journal"));
	json_t *other = json_deep_copy(one), *both = json_pack("[o, o]", one, other);
	struct dart_journal_target target;
	struct dart_error error;
	json_t *written;

	json_object_set_new(other, "reporter", json_string("10.0.0.3"));
	json_object_set_new(other, "dscp", json_integer(8));
	json_object_set_new(other, "epoch", json_integer(5));
	assert_int_equal(load_targets(both, "10.0.0.3", &target, &error), 0);
	written = dart_journal_target__to_json(&target);
	assert_true(json_equal(written, other));
	json_decref(written);
	assert_int_not_equal(load_targets(both, "0.0.0.0", &target, &error), 0);
	assert_non_null(strstr(error.text, "several"));
	assert_int_not_equal(load_targets(both, "10.0.0.4", &target, &error), 0);
	assert_non_null(strstr(error.text, "no journal takes entries from 10.0.0.4"));
	json_object_set_new(one, "batch_log2", json_integer(11));
	assert_int_not_equal(load_targets(both, "10.0.0.3", &target, &error), 0);
	assert_non_null(strstr(error.text, "journals[0]: a journal cannot have this geometry"));
	json_object_set_new(one, "batch_log2", json_integer(10));
	json_object_set_new(one, "shares", json_string("0-1023"));
	assert_int_not_equal(load_targets(both, "10.0.0.3", &target, &error), 0);
	json_object_del(one, "shares");
	json_object_set_new(one, "base", json_string("0xffffffffffffff00"));
	assert_int_not_equal(load_targets(both, "10.0.0.3", &target, &error), 0);
	json_decref(both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an appender fills the batches and frames of the golden vectors",
		     test_appender),
		TEST("a reader finds in them what the vectors say, at their places only",
		     test_reading),
		TEST("a batch with a changed bit, or a part of another batch, is not whole",
		     test_torn),
		TEST("a flush WRITEs new entries only, to the place of the full batch", test_flush),
		TEST("impossible geometries and starts are refused", test_geometry),
		TEST("files of journals are read, checked and written", test_files),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
