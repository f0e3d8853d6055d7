// SPDX-License-Identifier: GPL-2.0-only
/* Files of epochs: their slots are found again, and lies in them are refused. */
#include <libdart/store/epoch_file.h>

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "selftests/unit/unit.h"

#define KEYS 1000

static const struct dart_store_rule plurality = { DART_STORE_PLURALITY, 0 };
static const __be32 reporters[3] = { 0x0200000a, 0x0300000a, 0x0400000a };

/* As if the library had no memory: a checksum must not depend on it. */
XXH3_state_t *XXH3_createState(void)
{
	return NULL;
}

/* A store of 2^14 slots, written by KEYS keys, and its file. */
struct fixture {
	struct dart_epoch epoch;
	struct dart_store *store;
	uint8_t *slots;
	size_t length;
	int fd;
};

static void value_of(uint32_t key, uint8_t value[20])
{
	uint32_t i;

	for (i = 0; i < 5; i++)
		memcpy(value + 4 * i, &(uint32_t){ key * 2654435761u + i }, 4);
}

static struct fixture fixture__new(uint64_t slots, uint32_t checksum_bits, uint32_t redundancy,
				   uint32_t reporter_count)
{
	struct fixture fixture = {
		.epoch = {
			.store = "paths/of:all",
			.schema = "int-path",
			.since_ns = 1795804865123456789,
			.until_ns = 1795804925123456789,
			.geometry = { slots, 20, checksum_bits, redundancy },
			.reporter_count = reporter_count,
			.reporters = reporters,
		},
	};
	uint32_t key, copy;
	uint8_t value[20];

	fixture.length = dart_store_geometry__length(&fixture.epoch.geometry);
	fixture.slots = calloc(1, fixture.length);
	assert_non_null(fixture.slots);
	assert_int_equal(dart_store__new(&fixture.epoch.geometry, fixture.slots, &fixture.store),
			 0);
	for (key = 0; key < KEYS; key++) {
		value_of(key, value);
		for (copy = 0; copy < redundancy; copy++)
			dart_store__write(fixture.store, &key, sizeof(key), copy, value);
	}
	fixture.fd = memfd_create("epoch", MFD_CLOEXEC);
	assert_true(fixture.fd >= 0);
	return fixture;
}

static void fixture__free(struct fixture *fixture)
{
	close(fixture->fd);
	dart_store__free(fixture->store);
	free(fixture->slots);
}

static void fixture__write(struct fixture *fixture)
{
	struct dart_error error = {};

	assert_int_equal(dart_epoch_file__write(fixture->fd, &fixture->epoch, fixture->slots, NULL,
						NULL, &error),
			 0);
}

/* All keys, and as many that were not reported, have the same answer in memory and in the file. */
static void check_queries(struct fixture *fixture)
{
	struct dart_store_answer here, there;
	struct dart_epoch_file *file;
	struct dart_error error = {};
	uint32_t key;

	assert_int_equal(dart_epoch_file__open(fixture->fd, &file, &error), 0);
	for (key = 0; key < 2 * KEYS; key += 7) {
		memset(&here, 0, sizeof(here));
		memset(&there, 0, sizeof(there));
		dart_store__query(fixture->store, &key, sizeof(key), &plurality, &here);
		assert_int_equal(dart_epoch_file__query(file, &key, sizeof(key), &plurality, &there,
							&error),
				 0);
		assert_int_equal(here.outcome, there.outcome);
		assert_int_equal(here.matches, there.matches);
		assert_int_equal(here.agreeing, there.agreeing);
		if (here.outcome == DART_STORE_FOUND)
			assert_memory_equal(here.value, there.value, 20);
	}
	dart_epoch_file__close(file);
}

static void test_round_trip(void **state)
{
	static const struct {
		uint64_t slots;
		uint32_t checksum_bits, redundancy, reporters;
	} cases[] = {
		{ 1 << 14, 32, 2, 3 }, { 1, 8, 1, 0 }, { 1 << 12, 64, 8, 1 }, { 1 << 16, 16, 4, 2 }
	};
	struct dart_epoch_file *file;
	const struct dart_epoch *epoch;
	struct dart_error error;
	struct fixture fixture;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture = fixture__new(cases[i].slots, cases[i].checksum_bits, cases[i].redundancy,
				       cases[i].reporters);
		fixture__write(&fixture);
		check_queries(&fixture);
		assert_int_equal(dart_epoch_file__open(fixture.fd, &file, &error), 0);
		epoch = dart_epoch_file__epoch(file);
		assert_string_equal(epoch->store, "paths/of:all");
		assert_string_equal(epoch->schema, "int-path");
		assert_true(epoch->since_ns == 1795804865123456789 &&
			    epoch->until_ns == 1795804925123456789);
		assert_memory_equal(&epoch->geometry, &fixture.epoch.geometry,
				    sizeof(epoch->geometry));
		assert_int_equal(epoch->reporter_count, cases[i].reporters);
		if (cases[i].reporters)
			assert_memory_equal(epoch->reporters, reporters, 4 * cases[i].reporters);
		dart_epoch_file__close(file);
		fixture__free(&fixture);
	}
}

static uint8_t *contents(int fd, size_t *length)
{
	struct stat status;
	uint8_t *bytes;

	assert_int_equal(fstat(fd, &status), 0);
	*length = status.st_size;
	bytes = malloc(*length);
	assert_non_null(bytes);
	assert_int_equal(pread(fd, bytes, *length, 0), *length);
	return bytes;
}

/* Any tool for zstd prints the slots. */
static void test_zstd(void **state)
{
	struct fixture fixture = fixture__new(1 << 14, 32, 2, 3);
	ZSTD_DStream *stream = ZSTD_createDStream();
	size_t length, ret = 1;
	ZSTD_outBuffer out;
	uint8_t *stored;
	ZSTD_inBuffer in;

	fixture__write(&fixture);
	stored = contents(fixture.fd, &length);
	in = (ZSTD_inBuffer){ stored, length, 0 };
	out = (ZSTD_outBuffer){ malloc(fixture.length + 1), fixture.length + 1, 0 };
	while (in.pos < in.size) {
		ret = ZSTD_decompressStream(stream, &out, &in);
		assert_false(ZSTD_isError(ret));
	}
	assert_int_equal(ret, 0);
	assert_int_equal(out.pos, fixture.length);
	assert_memory_equal(out.dst, fixture.slots, fixture.length);
	ZSTD_freeDStream(stream);
	free(out.dst);
	free(stored);
	fixture__free(&fixture);
}

/* Opens a file and queries all keys: the first failure. */
static int try(int fd, struct dart_error *error)
{
	struct dart_store_answer answer;
	struct dart_epoch_file *file;
	uint32_t key;
	int ret;

	ret = dart_epoch_file__open(fd, &file, error);
	if (ret)
		return ret;
	for (key = 0; !ret && key < KEYS; key += 3)
		ret = dart_epoch_file__query(file, &key, sizeof(key), &plurality, &answer, error);
	dart_epoch_file__close(file);
	return ret;
}

/* No crash at any byte is mistaken for a whole file, and no damage for slots. */
static void test_damage(void **state)
{
	struct fixture fixture = fixture__new(1 << 14, 32, 2, 3);
	struct dart_error error;
	size_t length, i;
	uint8_t *bytes;

	fixture__write(&fixture);
	bytes = contents(fixture.fd, &length);
	for (i = 0; i < length; i += i < 400 ? 1 : 997) {
		bytes[i] ^= 0xff;
		assert_int_equal(pwrite(fixture.fd, bytes + i, 1, i), 1);
		assert_int_equal(try(fixture.fd, &error), -EBADMSG);
		assert_non_null(strstr(error.text, "not the whole file of an epoch"));
		bytes[i] ^= 0xff;
		assert_int_equal(pwrite(fixture.fd, bytes + i, 1, i), 1);
	}
	assert_int_equal(try(fixture.fd, &error), 0);
	for (i = 0; i < length; i += i < 400 ? 1 : 997) {
		assert_int_equal(ftruncate(fixture.fd, length - 1 - i), 0);
		assert_int_equal(try(fixture.fd, &error), -EBADMSG);
		assert_int_equal(pwrite(fixture.fd, bytes, length, 0), length);
	}
	free(bytes);
	fixture__free(&fixture);
}

/* A liar can compute checksums, too. */
static void sign(uint8_t *bytes)
{
	struct dart_epoch_header *header = (void *)bytes;
	const uint64_t length =
		le32toh(header->skipped) + offsetof(struct dart_epoch_header, magic);

	header->checksum = 0;
	header->checksum = htole64(XXH3_64bits(bytes, length));
}

static void test_lies(void **state)
{
	struct fixture fixture = fixture__new(1 << 14, 32, 2, 3);
	static const struct {
		size_t offset;
		uint64_t value;
		size_t size;
	} lies[] = {
#define LIE(member, value)                                   \
	{ offsetof(struct dart_epoch_header, member), value, \
	  sizeof(((struct dart_epoch_header *)0)->member) }
		LIE(version, 2),
		LIE(slots_log2, 33),
		LIE(slots_log2, 32),
		LIE(slots_log2, 13),
		LIE(value_length, 0),
		LIE(value_length, UINT32_MAX),
		LIE(value_length, 64),
		LIE(checksum_bits, 33),
		LIE(redundancy, 0),
		LIE(redundancy, 9),
		LIE(reporters, 1001),
		LIE(reporters, 1000),
		LIE(reporters, UINT32_MAX),
		LIE(frame_slots_log2, 15),
		LIE(frame_slots_log2, UINT32_MAX),
		LIE(frames, 0),
		LIE(frames, UINT32_MAX),
		LIE(since_ns, 0),
		LIE(until_ns, 1),
		LIE(since_ns, UINT64_MAX),
		LIE(polynomials[3], 0),
		LIE(reserved, 1),
		LIE(skipped, 0),
		LIE(store[39], 'x'),
		LIE(schema[63], 'x'),
	};
	/* Of frames, behind three addresses. */
	static const struct dart_epoch_frame frames[] = {
		{ .offset = UINT64_MAX, .length = 100 },
		{ .offset = 0, .length = 100 },
		{ .offset = 1000, .length = UINT32_MAX },
		{ .offset = 1000, .length = 0 },
	};
	const size_t first = sizeof(struct dart_epoch_header) + 12;
	uint8_t *bytes, *lie;
	struct dart_error error;
	size_t length, i;

	fixture__write(&fixture);
	bytes = contents(fixture.fd, &length);
	lie = malloc(length);
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		memcpy(lie, bytes, length);
		memcpy(lie + lies[i].offset, &lies[i].value, lies[i].size);
		if (lies[i].offset != offsetof(struct dart_epoch_header, skipped))
			sign(lie);
		assert_int_equal(pwrite(fixture.fd, lie, length, 0), length);
		if (try(fixture.fd, &error) != -EBADMSG)
			fail_msg("lie %zu was believed", i);
	}
	for (i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		memcpy(lie, bytes, length);
		memcpy(lie + first, &frames[i], sizeof(frames[i]));
		sign(lie);
		assert_int_equal(pwrite(fixture.fd, lie, length, 0), length);
		assert_int_equal(try(fixture.fd, &error), -EBADMSG);
	}
	free(lie);
	free(bytes);
	fixture__free(&fixture);
}

static void test_names(void **state)
{
	static const char *const wrong[] = {
		"",
		"1-2",
		"2-1.dart",
		"1-1.dart",
		"0-1.dart",
		"1-2.dart ",
		"01-2.dart",
		"+1-2.dart",
		"1-2.dartx",
		"-1-2.dart",
		"1-99999999999999999999.dart",
		".new-1-2.dart",
		"1--2.dart",
	};
	char name[DART_EPOCH_FILE_NAME_MAX];
	uint64_t since, until;
	size_t i;

	dart_epoch_file__print_name(1795804865123456789, 1795804925123456789, name);
	assert_string_equal(name, "1795804865123456789-1795804925123456789.dart");
	assert_int_equal(dart_epoch_file__parse_name(name, &since, &until), 0);
	assert_true(since == 1795804865123456789 && until == 1795804925123456789);
	dart_epoch_file__print_name(UINT64_MAX - 1, UINT64_MAX, name);
	assert_int_equal(dart_epoch_file__parse_name(name, &since, &until), 0);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (dart_epoch_file__parse_name(wrong[i], &since, &until) != -EINVAL)
			fail_msg("'%s' was taken", wrong[i]);
}

static int give_up(void *argument, size_t bytes)
{
	size_t *left = argument;

	if (bytes > *left)
		return -ECANCELED;
	*left -= bytes;
	return 0;
}

static void test_failures(void **state)
{
	struct fixture fixture = fixture__new(1 << 14, 32, 2, 3);
	size_t left = 1000, length;
	struct dart_error error;

	assert_int_equal(dart_epoch_file__write(fixture.fd, &fixture.epoch, fixture.slots, give_up,
						&left, &error),
			 -ECANCELED);
	assert_int_equal(try(fixture.fd, &error), -EBADMSG);
	left = SIZE_MAX;
	assert_int_equal(dart_epoch_file__write(fixture.fd, &fixture.epoch, fixture.slots, give_up,
						&left, &error),
			 0);
	/* Everything but the header is paced. */
	free(contents(fixture.fd, &length));
	assert_true(SIZE_MAX - left < length && SIZE_MAX - left > length / 2);
	fixture.epoch.until_ns = fixture.epoch.since_ns;
	assert_int_equal(dart_epoch_file__write(fixture.fd, &fixture.epoch, fixture.slots, NULL,
						NULL, &error),
			 -EINVAL);
	close(fixture.fd);
	fixture.fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	assert_true(fixture.fd >= 0);
	fixture.epoch.until_ns++;
	assert_int_equal(dart_epoch_file__write(fixture.fd, &fixture.epoch, fixture.slots, NULL,
						NULL, &error),
			 -ENOSPC);
	assert_int_equal(dart_epoch_file__open(fixture.fd, &(struct dart_epoch_file *){ NULL },
					       &error),
			 -EBADMSG);
	fixture__free(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a file answers queries as the memory did, and tells its epoch",
		     test_round_trip),
		TEST("a file is a zstd stream of the slots", test_zstd),
		TEST("a file with one damaged byte, or cut off anywhere, is refused", test_damage),
		TEST("lies in a header or a frame with right checksums are refused", test_lies),
		TEST("a name tells when the epoch began and ended, and other names are refused",
		     test_names),
		TEST("a writer that is stopped, or has no room, leaves no whole file",
		     test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
