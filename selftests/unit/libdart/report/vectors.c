// SPDX-License-Identifier: GPL-2.0-only
/* libdart places keys and builds frames like the golden vectors. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/error.h>
#include <libdart/report/report_builder.h>

#include "selftests/lib/roce_frame_parse.h"
#include "selftests/unit/libdart/vector.h"

#define VECTORS	"selftests/vectors/reports.json"

/* The vector's collector, read from a file. */
static struct dart_collectors collectors(json_t *vector)
{
	json_t *entry = json_object_get(vector, "collector");
	json_t *file = json_pack("{s:i, s:[O]}", "dart_collectors", 1, "collectors", entry);
	char path[] = "/tmp/vectors.XXXXXX";
	const char *paths[] = { path };
	struct dart_collectors collectors;
	struct in_addr reporter;
	struct dart_error error;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(json_dumpfd(file, fd, 0), 0);
	close(fd);
	json_decref(file);
	inet_pton(AF_INET, text(entry, "reporter"), &reporter);
	if (dart_collectors__load(paths, 1, reporter, &collectors, &error))
		fail_msg("%s", error.text);
	unlink(path);
	return collectors;
}

static void check_place(json_t *vector, const struct dart_collector *collector,
			const struct bytes *key, struct dart_store_place *place)
{
	json_t *slots = json_object_get(vector, "slots");
	struct dart_store_hash *hash;
	size_t i;

	assert_int_equal(dart_store_hash__new(&collector->geometry, &hash), 0);
	dart_store_hash__place(hash, key->data, key->length, place);
	assert_int_equal(place->share, number(vector, "share"));
	assert_true(place->checksum == strtoull(text(vector, "checksum"), NULL, 16));
	assert_int_equal(json_array_size(slots), collector->geometry.redundancy);
	for (i = 0; i < json_array_size(slots); i++)
		assert_int_equal(place->slots[i], json_integer_value(json_array_get(slots, i)));
	dart_store_hash__free(hash);
}

static void check_frame(json_t *vector, const struct dart_collector *collector,
			const struct dart_store_place *place)
{
	const struct bytes value = bytes(vector, "value");
	const struct bytes expected = bytes(vector, "frame");
	const struct bytes expected_reliable = bytes(vector, "frame_rc");
	uint8_t mac[ETH_ALEN], frame[DART_ROCE_FRAME_MAX], reliable_frame[DART_ROCE_FRAME_MAX];
	struct dart_collector reliable = *collector;
	struct roce_report report;
	size_t length;

	reliable.is_reliable = true;
	assert_int_equal(sscanf(text(vector, "source_mac"), "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx",
				&mac[0], &mac[1], &mac[2], &mac[3], &mac[4], &mac[5]),
			 6);
	length = dart_roce_frame__build(collector, mac, place, number(vector, "copy"), value.data,
					collector->first_psn + number(vector, "number"), frame);
	assert_int_equal(length, expected.length);
	assert_memory_equal(frame, expected.data, length);
	assert_int_equal(dart_roce_frame__build(&reliable, mac, place, number(vector, "copy"),
						value.data,
						collector->first_psn + number(vector, "number"),
						reliable_frame),
			 expected_reliable.length);
	assert_memory_equal(reliable_frame, expected_reliable.data, expected_reliable.length);
	assert_int_equal(roce_frame__parse(frame, length, &report), 0);
	assert_true(report.address == strtoull(text(vector, "address"), NULL, 16));
	assert_int_equal(report.psn, number(vector, "psn"));
}

static void test_vectors(void **state)
{
	json_t *vectors = json_load_file(VECTORS, 0, NULL), *vector;
	struct dart_collectors loaded;
	struct dart_store_place place;
	struct bytes key;
	size_t i;

	assert_non_null(vectors);
	assert_true(json_array_size(vectors) > 100);
	json_array_foreach(vectors, i, vector) {
		print_message("# vector %zu\n", i);
		loaded = collectors(vector);
		key = bytes(vector, "key");
		check_place(vector, loaded.list, &key, &place);
		check_frame(vector, loaded.list, &place);
		dart_collectors__free(&loaded);
	}
	json_decref(vectors);
}

/* One report after the other, with places in the largest store. */
static void test_reporter(void **state)
{
	json_t *vectors = json_load_file(VECTORS, 0, NULL), *vector;
	static const uint8_t mac[] = { 0x52, 0x54, 0, 0, 0, 2 };
	struct dart_store_place place;
	struct dart_report_builder *reporter;
	struct dart_collectors loaded;
	size_t i, compared = 0;

	json_array_foreach(vectors, i, vector) {
		const struct bytes key = bytes(vector, "key");
		const struct bytes value = bytes(vector, "value");
		const struct bytes expected = bytes(vector, "frame");
		uint8_t frame[DART_ROCE_FRAME_MAX];
		uint64_t sent = number(vector, "number"), before;

		if (sent > 10)
			continue;
		loaded = collectors(vector);
		assert_int_equal(dart_report_builder__new(&loaded, mac, 0, &reporter), 0);
		assert_ptr_equal(dart_report_builder__find(reporter, key.data, key.length, &place),
				 loaded.list);
		for (before = 0; before < sent; before++)
			dart_report_builder__report(reporter, &place, DART_REPORT_ANY_COPY,
						    value.data, frame);
		assert_int_equal(dart_report_builder__report(reporter, &place,
							     number(vector, "copy"), value.data,
							     frame),
				 expected.length);
		assert_memory_equal(frame, expected.data, expected.length);
		assert_int_equal(dart_report_builder__reports(reporter, 0), sent + 1);
		dart_report_builder__free(reporter);
		dart_collectors__free(&loaded);
		compared++;
	}
	assert_true(compared > 100);
	json_decref(vectors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("places and frames are those of the golden vectors, byte by byte",
		     test_vectors),
		TEST("a reporter sends the frames of the golden vectors, with consecutive PSNs",
		     test_reporter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
