// SPDX-License-Identifier: GPL-2.0-only
/* Recorded scrapes are read again, from files that are whole, cut, damaged or many. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "controller_recording.h"
#include "tools/controller/record/pace.h"
#include "tools/controller/record/reader.h"
#include "tools/controller/settings/replay_options.h"

#define TABLES	3	/* of the host in the small recording */
#define SCRAPES 4	/* of each of them */

static const struct test_host host = { "host", 1, 0x10000, 1 };
static struct shared_text *labels;

static struct target_settings one = { .index = 7, .name = "one:4792" };
static struct target_settings two = { .index = 8, .name = "two:4792" };

/*
 * A file of several chunks: one target changes its table again and again, the other target
 * is lost in between.
 */
static void make_small(struct recording *recording)
{
	struct ring *ring;
	uint64_t table, i;

	labels = shared_text__new("{\"rack\": \"a7\"}");
	assert_non_null(labels);
	one.labels = labels;
	recording__make_directory(recording);
	recording__begin(recording);
	recording__add(recording, &one);
	recording__add(recording, &two);
	for (table = 0; table < TABLES; table++) {
		ring = recording__ring(&host, ROWS + table);
		for (i = 1; i <= SCRAPES; i++)
			recording__scrape(recording, &one, ring, table * SCRAPES + i);
		recording__lose(recording, &two, "no answer");
		ring__release(ring);
	}
	recording__take_off(recording, &two);
	assert_int_equal(recording__end(recording), 0);
	shared_text__release(labels);
	one.labels = NULL;
}

/* The contents that were read from a file. */
struct seen {
	unsigned int targets, tables, scrapes, losses, removals;
	uint64_t last; /* sequence */
	uint64_t table; /* the last table */
	uint32_t target; /* its target */
	bool is_damaged;
	struct dart_error error;
};

static bool is_text(const struct record_text *text, const char *expected)
{
	return text->length == strlen(expected) && !memcmp(text->bytes, expected, text->length);
}

/* Everything is as it was recorded, whatever is missing. */
static void check_scrape(const struct recorded_scrape *scrape, struct seen *seen)
{
	const uint64_t sequence = scrape->head.sequence;
	const struct sample_head expected = recording__head(sequence);
	const uint64_t *values = scrape->landing;
	uint32_t i;

	assert_true(sequence > seen->last);
	seen->last = sequence;
	assert_int_equal(scrape->head.start_ns, expected.start_ns);
	assert_int_equal(scrape->head.landed_ns, expected.landed_ns);
	assert_int_equal(scrape->head.time_ns, expected.time_ns);
	assert_int_equal(scrape->head.clock_offset_ns, expected.clock_offset_ns);
	assert_int_equal(scrape->head.clock_uncertainty_ns, expected.clock_uncertainty_ns);
	assert_int_equal(scrape->head.reads, expected.reads);
	assert_int_equal(scrape->head.bytes, expected.bytes);
	assert_int_equal(scrape->head.failed, expected.failed);
	assert_int_equal(scrape->head.missed, expected.missed);
	assert_int_equal(scrape->end_ns, recording__end_ns(sequence));
	for (i = 0; i < ROWS; i++)
		assert_int_equal(le64toh(values[i]), recording__value(one.index, sequence, i));
	seen->scrapes++;
}

static void check_record(const struct record *record, struct seen *seen)
{
	switch (record->type) {
	case RECORD_TARGET:
		if (is_text(&record->target.name, "one:4792"))
			assert_true(is_text(&record->target.labels, "{\"rack\": \"a7\"}"));
		else
			assert_true(is_text(&record->target.name, "two:4792"));
		seen->targets++;
		break;
	case RECORD_TABLE:
		seen->tables++;
		seen->table = record->table.number;
		assert_int_equal(record->table.names.length, 0);
		break;
	case RECORD_SCRAPE:
		check_scrape(&record->scrape, seen);
		break;
	case RECORD_LOST:
		assert_true(is_text(&record->loss.reason, "no answer"));
		seen->losses++;
		break;
	case RECORD_REMOVED:
		seen->removals++;
		break;
	}
}

/* Returns as reader__open(). */
static int read_all(const char *path, struct reader_range range, struct seen *seen)
{
	struct reader *reader;
	struct record record;
	int ret;

	*seen = (struct seen){ };
	ret = reader__open(path, &reader, &seen->error);
	if (ret)
		return ret;
	reader__set_range(reader, range);
	while ((ret = reader__next(reader, &record, &seen->error)) > 0)
		check_record(&record, seen);
	assert_int_equal(ret, 0);
	seen->is_damaged = reader__is_damaged(reader, &seen->error);
	reader__close(reader);
	return 0;
}

static void test_round_trip(void **state)
{
	struct recording recording;
	struct seen seen;

	make_small(&recording);
	assert_int_equal(read_all(recording.path, READER_ALL, &seen), 0);
	assert_int_equal(seen.targets, TABLES + 1);
	assert_int_equal(seen.tables, TABLES);
	assert_int_equal(seen.scrapes, TABLES * SCRAPES);
	assert_int_equal(seen.losses, TABLES);
	assert_int_equal(seen.removals, 1);
	assert_false(seen.is_damaged);
	assert_true(recording__has_said(&recording, ": 12 scrapes recorded, 0 dropped, "));
	recording__remove(&recording);
}

static uint8_t *load(const char *path, size_t *length)
{
	uint8_t *bytes;
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	bytes = malloc(1 << 20);
	assert_non_null(bytes);
	*length = fread(bytes, 1, 1 << 20, file);
	assert_in_range(*length, 1, (1 << 20) - 1);
	fclose(file);
	return bytes;
}

static void store(const char *path, const uint8_t *bytes, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void test_cut(void **state)
{
	unsigned int scrapes = 0, whole = 0;
	struct recording recording;
	struct seen seen;
	size_t length, cut;
	uint8_t *bytes;

	make_small(&recording);
	bytes = load(recording.path, &length);
	for (cut = 0; cut <= length; cut++) {
		store(recording.path, bytes, cut);
		if (cut < sizeof(struct record_file_header)) {
			assert_int_not_equal(read_all(recording.path, READER_ALL, &seen), 0);
			assert_true(*seen.error.text);
			continue;
		}
		assert_int_equal(read_all(recording.path, READER_ALL, &seen), 0);
		/* More bytes never give fewer scrapes. */
		assert_in_range(seen.scrapes, scrapes, TABLES * SCRAPES);
		assert_int_equal(seen.scrapes % SCRAPES, 0);
		scrapes = seen.scrapes;
		whole += !seen.is_damaged;
		if (seen.is_damaged)
			assert_non_null(strstr(seen.error.text, "is cut off: "));
	}
	assert_int_equal(scrapes, TABLES * SCRAPES);
	/*
	 * Counts between chunks: definitions and events of each table, twice including the other
	 * target's.
	 */
	assert_in_range(whole, 2 * TABLES + 1, 2 * TABLES + 4);
	free(bytes);
	recording__remove(&recording);
}

static void test_flipped(void **state)
{
	unsigned int unaffected = 0, lost, scrapes_min = TABLES * SCRAPES;
	struct recording recording;
	struct seen seen;
	size_t length, at;
	uint8_t *bytes;

	make_small(&recording);
	bytes = load(recording.path, &length);
	for (at = 0; at < length; at++) {
		bytes[at] ^= 1 << at % 8;
		store(recording.path, bytes, length);
		bytes[at] ^= 1 << at % 8;
		if (at < sizeof(struct record_file_header)) {
			assert_int_not_equal(read_all(recording.path, READER_ALL, &seen), 0);
			continue;
		}
		assert_int_equal(read_all(recording.path, READER_ALL, &seen), 0);
		/* Only padding of a chunk carries no meaning. */
		unaffected += !seen.is_damaged;
		lost = TABLES * SCRAPES - seen.scrapes;
		assert_in_range(lost, 0, SCRAPES);
		if (seen.scrapes < scrapes_min)
			scrapes_min = seen.scrapes;
		if (seen.is_damaged)
			assert_true(strstr(seen.error.text, "is damaged: ") ||
				    strstr(seen.error.text, "is cut off: "));
	}
	assert_int_equal(scrapes_min, (TABLES - 1) * SCRAPES);
	assert_in_range(unaffected, 0, 7 * (2 * TABLES + 4));
	free(bytes);
	recording__remove(&recording);
}

static void test_range(void **state)
{
	struct reader_range range = {
		.from_ns = REALTIME_NS + 3 * SECOND_NS,
		.to_ns = REALTIME_NS + 7 * SECOND_NS,
	};
	struct recording recording;
	struct seen seen;

	make_small(&recording);
	assert_int_equal(read_all(recording.path, range, &seen), 0);
	assert_int_equal(seen.scrapes, 4);
	assert_int_equal(seen.last, 6);
	assert_int_equal(seen.tables, TABLES);
	assert_int_equal(seen.losses, 0);
	range = (struct reader_range){ INT64_MIN, REALTIME_NS };
	assert_int_equal(read_all(recording.path, range, &seen), 0);
	assert_int_equal(seen.scrapes, 0);
	recording__remove(&recording);
}

/* Scrapes of random numbers, which do not become smaller, 32 KiB each. */
static void add_noise(struct recording *recording, struct ring *ring, unsigned int first,
		      unsigned int last)
{
	uint64_t state = first, *landing = (uint64_t *)ring->slots[0].landing;
	unsigned int i, k;

	for (i = first; i <= last; i++) {
		for (k = 0; k < 4096; k++)
			landing[k] = (uint64_t)random__below(&state, 1U << 31) << 33 ^
				     random__below(&state, 1U << 31) << 2 ^ k;
		recording__land(recording, &one, ring, i);
	}
}

static void record_noise(struct recording *recording, unsigned int scrapes)
{
	struct ring *ring = recording__ring(&host, 4096);

	recording__begin(recording);
	recording__add(recording, &one);
	add_noise(recording, ring, 1, scrapes);
	ring__release(ring);
}

/* Sequences of the scrapes whose table was in the same file: first, last and number. */
static void read_sequences(const char *path, uint64_t *first, uint64_t *last, unsigned int *count)
{
	uint64_t table = 0;
	struct reader *reader;
	struct record record;
	struct dart_error error;

	*count = 0;
	assert_int_equal(reader__open(path, &reader, &error), 0);
	while (reader__next(reader, &record, &error) > 0) {
		if (record.type == RECORD_TABLE)
			table = record.table.number;
		if (record.type != RECORD_SCRAPE)
			continue;
		assert_int_equal(record.scrape.table, table);
		if (!(*count)++)
			*first = record.scrape.head.sequence;
		*last = record.scrape.head.sequence;
	}
	assert_false(reader__is_damaged(reader, &error));
	reader__close(reader);
}

/* Reads the same, and checks that no scrape is missing between first and last. */
static void read_noise(const char *path, uint64_t *first, uint64_t *last, unsigned int *count)
{
	read_sequences(path, first, last, count);
	assert_int_equal(*last - *first + 1, *count);
}

static void test_bound(void **state)
{
	struct recording recording;
	unsigned int count;
	uint64_t first, last;

	recording__make_directory(&recording);
	recording.settings.size = 1 << 20;
	record_noise(&recording, 100);
	assert_int_equal(recording__end(&recording), 0);
	assert_in_range(recording__size(&recording, 0), 700000, 1 << 20);
	assert_int_equal(recording__size(&recording, 1), -1);
	read_noise(recording.path, &first, &last, &count);
	assert_int_equal(first, 1);
	assert_in_range(count, 20, 32);
	assert_true(recording__has_said(&recording, "recording ends"));
	recording__remove(&recording);
}

/* Limits all files of this process to @bytes from now on. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/*
 * Records 400 scrapes, of which the first 4 MiB fit, and 400 more with room again, in @files files
 * at most.
 */
static void record_without_room(struct recording *recording, unsigned int files)
{
	struct ring *ring = recording__ring(&host, 4096);
	struct output_figures figures = {};
	unsigned int tries;

	recording__make_directory(recording);
	recording->settings.size = 64 << 20;
	recording->settings.files = files;
	limit_files(6 << 20);
	recording__begin(recording);
	recording__add(recording, &one);
	add_noise(recording, ring, 1, 400);
	for (tries = 0; !figures.numbers[OUTPUT_FAILING]; tries++) {
		assert_true(tries < 60000);
		poll(NULL, 0, 1);
		output_figures__clear(&figures);
		recorder__figures(recording->recorder, &figures);
	}
	assert_true(figures.numbers[OUTPUT_DROPPED_SCRAPES] > 100);
	assert_string_equal(figures.error.kind, "not_writable");
	output_figures__clear(&figures);
	limit_files(RLIM_INFINITY);
	add_noise(recording, ring, 401, 800);
	ring__release(ring);
	assert_int_equal(recording__end(recording), 0);
	assert_true(recording__has_said(recording, "are not recorded until that works again"));
	assert_true(recording__has_said(recording, "is written again"));
	assert_false(recording__has_said(recording, "recording ends"));
}

/* Without room scrapes are lost and counted; with room they are in the next file. */
static void test_room(void **state)
{
	struct recording recording;
	uint64_t first, last, ended;
	unsigned int count;

	record_without_room(&recording, 3);
	read_noise(recording__path(&recording, 1), &first, &ended, &count);
	assert_int_equal(first, 1);
	assert_int_equal(ended, count);
	read_noise(recording.path, &first, &last, &count);
	assert_true(first > ended + 1);
	assert_int_equal(last, 800);
	assert_int_equal(count, last - first + 1);
	assert_int_equal(recording__size(&recording, 2), -1);
	recording__remove(&recording);
}

/* The same with one file, which is whole up to the point where room ran out, and goes on there. */
static void test_room_in_one(void **state)
{
	struct recording recording;
	uint64_t first, last;
	unsigned int count;

	record_without_room(&recording, 1);
	read_sequences(recording.path, &first, &last, &count);
	assert_int_equal(first, 1);
	assert_int_equal(last, 800);
	assert_in_range(count, 500, 700);
	recording__remove(&recording);
}

static void test_rotation(void **state)
{
	struct recording recording;
	uint64_t first, last, next = 0;
	unsigned int count, i;

	recording__make_directory(&recording);
	recording.settings.size = 1 << 20;
	recording.settings.files = 3;
	record_noise(&recording, 200);
	assert_int_equal(recording__end(&recording), 0);
	assert_int_equal(recording__size(&recording, 3), -1);
	for (i = 0; i < 3; i++) {
		assert_in_range(recording__size(&recording, i), 1000, 1 << 20);
		read_noise(recording__path(&recording, i), &first, &last, &count);
		assert_int_equal(last, i ? next - 1 : 200);
		next = first;
	}
	assert_true(recording__has_said(&recording, ": 200 scrapes recorded"));
	recording__remove(&recording);
}

/* Why a recording does not begin. */
static void assert_refused(struct recording *recording, const char *sentence)
{
	struct dart_error error;

	assert_int_not_equal(recording__try(recording, &error), 0);
	recording__end(recording);
	assert_non_null(strstr(error.text, sentence));
}

static void test_existing(void **state)
{
	struct recording recording, other;

	make_small(&recording);
	assert_refused(&recording, "exists: remove it");
	recording.settings.files = 2;
	recording__begin(&recording);
	assert_true(recording__size(&recording, 1) > 0);
	other = recording;
	other.recorder = NULL;
	assert_refused(&other, "is being recorded by another");
	assert_int_equal(recording__end(&recording), 0);
	store(recording.path, (const uint8_t *)"root:x:0:0", 10);
	assert_refused(&recording, "is not a recording");
	assert_int_equal(recording__size(&recording, 0), 10);
	recording__remove(&recording);
}

static void test_no_directory(void **state)
{
	struct recording recording;

	recording__make_directory(&recording);
	recording.settings.path = "/nonexistent/file";
	assert_refused(&recording, "cannot make '/nonexistent/file'");
	recording__remove(&recording);
}

static void test_device(void **state)
{
	struct recording recording;

	recording__make_directory(&recording);
	recording.settings.path = "/dev/full";
	assert_refused(&recording, "is not a recording");
	recording__remove(&recording);
}

static void test_pace(void **state)
{
	struct pace pace = { .speed = 2 };

	assert_int_equal(pace__due_ns(&pace, 5000, 100), 100);
	assert_int_equal(pace__due_ns(&pace, 5200, 110), 200);
	assert_int_equal(pace__due_ns(&pace, 4000, 120), 100);
	/* Neither a hostile clock nor a long pause yields a time in the past. */
	assert_true(pace__due_ns(&pace, UINT64_MAX, 120) > UINT64_MAX / 8);
	pace__restart(&pace);
	assert_int_equal(pace__due_ns(&pace, 7, 300), 300);
	assert_int_equal(pace__due_ns(&pace, 9, 300), 301);
	pace.speed = 0.001;
	assert_true(pace__due_ns(&pace, UINT64_MAX, 300) > UINT64_MAX / 8);
	pace.speed = 0;
	assert_int_equal(pace__due_ns(&pace, UINT64_MAX, 400), 400);
}

static int64_t time_of(const char *text)
{
	struct replay_time time;

	assert_int_equal(replay_time__parse(text, &time), 0);
	return replay_time__ns(&time, 1000, 0);
}

static void test_times(void **state)
{
	static const char *const wrong[] = {
		"", "10", "@", "@x", "@1764066600.5s", "+", "+5", "+5d",
		"+s", "2026-11-25", "2026-11-25T10:30", "2026-11-25 10:30:00+1",
		"2026-11-25 10:30:00+25:00", "2026-11-25 10:30:00 Z",
		"@99999999999999999999", "+9223372036854775807h",
		"1800-01-01 00:00:00Z",
	};
	/* Dates and times that do not exist; the last lies in the hour that the clocks skip. */
	static const char *const absent[] = {
		"2026-02-29 10:00:00Z", "2026-02-30T10:00:00", "2026-04-31 00:00:00+01:00",
		"2100-02-29 10:00:00Z", "2026-12-31 23:59:60Z", "2026-03-29 02:30:00",
	};
	struct replay_time time = { };
	double speed;
	size_t i;

	assert_int_equal(replay_time__ns(&time, 1000, 77), 77);
	assert_int_equal(time_of("@1764066600.25"), 1764066600250000000);
	assert_int_equal(time_of("+90s"), 1000 + 90000000000);
	assert_int_equal(time_of("+5min"), 1000 + 300000000000);
	assert_int_equal(time_of("+250ms"), 1000 + 250000000);
	assert_int_equal(time_of("2025-11-25T10:30:00Z"), 1764066600000000000);
	assert_int_equal(time_of("2025-11-25 11:30:00.125+01:00"), 1764066600125000000);
	assert_int_equal(time_of("2025-11-25 09:00:00-01:30"), 1764066600000000000);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(replay_time__parse(wrong[i], &time), -EINVAL);
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	for (i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		assert_int_equal(replay_time__parse(absent[i], &time), -ERANGE);
	assert_int_equal(time_of("2028-02-29 00:00:00Z"), 1835395200000000000);
	assert_int_equal(time_of("2026-03-29 03:30:00"), 1774747800000000000);
	unsetenv("TZ");
	tzset();
	assert_int_equal(replay_options__parse_speed("0.5", &speed), 0);
	assert_true(speed == 0.5);
	assert_int_equal(replay_options__parse_speed("10x", &speed), 0);
	assert_true(speed == 10);
	assert_int_equal(replay_options__parse_speed("max", &speed), 0);
	assert_true(speed == 0);
	assert_int_equal(replay_options__parse_speed("0", &speed), -EINVAL);
	assert_int_equal(replay_options__parse_speed("nan", &speed), -EINVAL);
	assert_int_equal(replay_options__parse_speed("1e9", &speed), -EINVAL);
	assert_int_equal(replay_options__parse_speed("-1", &speed), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("all that was recorded is read again, values, times, names and losses",
		     test_round_trip),
		TEST("a file that is cut at any byte gives all chunks before it, and says so",
		     test_cut),
		TEST("a bit that is flipped anywhere costs one chunk at most, and is said",
		     test_flipped),
		TEST("a range of times gives its events, and all definitions", test_range),
		TEST("a recording of one file ends before it exceeds its size", test_bound),
		TEST("a recording without room goes on in the next file when there is room",
		     test_room),
		TEST("one of a single file goes on in it", test_room_in_one),
		TEST("several files take turns, each within its size and readable alone",
		     test_rotation),
		TEST("files that are there are kept, or moved on if they are recordings",
		     test_existing),
		TEST("a file that cannot be made is said", test_no_directory),
		TEST("a device is no place for a recording", test_device),
		TEST("events are due by their distance and the speed", test_pace),
		TEST("times and speeds are parsed, and others refused", test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
