// SPDX-License-Identifier: GPL-2.0-only
/* Recordings are replayed through the decoder and the workers to a sink. */
#include <errno.h>
#include <string.h>

#include "controller_recording.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/record/chunk.h"
#include "tools/controller/record/pace.h"
#include "tools/controller/record/record.h"
#include "tools/controller/record/replay.h"

#define SCRAPES 200
#define WORKERS 2

static const struct test_host host = { "host", 1, 0x10000, 1 };
static struct target_settings one = { .index = 3, .name = "one:4792", .interval_ns = 100000000 };
static struct target_settings two = { .index = 4, .name = "two:4792" };

/*
 * The samples that a sink got; each target is served by one worker, so no two threads write the
 * same data.
 */
struct heard {
	char name[32];
	char labels[64];
	unsigned int samples, losses, added, removed;
	uint64_t first, last; /* sequences */
	unsigned int disorder;
	unsigned int wrong; /* values or times that differ from the recorded ones */
};

struct test_sink {
	struct sink sink;
	struct heard heard[2];
};

static struct heard *heard_of(struct sink *sink, const struct target_settings *target)
{
	return &((struct test_sink *)sink)->heard[!strcmp(target->name, "two:4792")];
}

static void on_added(struct sink *sink, const struct target_settings *target)
{
	struct heard *heard = heard_of(sink, target);

	heard->added++;
	snprintf(heard->name, sizeof(heard->name), "%s", target->name);
	if (target->labels)
		snprintf(heard->labels, sizeof(heard->labels), "%s", target->labels->text);
}

static void on_removed(struct sink *sink, const struct target_settings *target)
{
	heard_of(sink, target)->removed++;
}

static int on_lost(struct sink *sink, const struct target_settings *target, const char *reason)
{
	struct heard *heard = heard_of(sink, target);

	heard->losses++;
	heard->wrong += strcmp(reason, "no answer") != 0;
	return 0;
}

static int on_sample(struct sink *sink, const struct target_settings *target,
		     const struct sample *sample, const struct latency *decoded)
{
	const uint64_t sequence = sample->head.sequence;
	const struct sample_head expected = recording__head(sequence);
	const uint64_t *values = sample->entries[0].copies;
	struct heard *heard = heard_of(sink, target);
	const size_t index = strcmp(target->name, "two:4792") ? 3 : 4;
	uint32_t i;

	if (!heard->samples++)
		heard->first = sequence;
	heard->disorder += sequence <= heard->last;
	heard->last = sequence;
	heard->wrong += sample->head.time_ns != expected.time_ns ||
			sample->head.start_ns != expected.start_ns ||
			sample->head.missed != expected.missed ||
			sample->end_ns != recording__end_ns(sequence) ||
			strcmp(sample->table->node_name, "host") ||
			strcmp(sample->entries[0].entry->name, "values");
	for (i = 0; i < sample->entries[0].entry->copies; i++)
		heard->wrong += values[i] != recording__value(index, sequence, i);
	return 0;
}

static const struct sink_operations sink_operations = {
	.sample = on_sample,
	.lost = on_lost,
	.added = on_added,
	.removed = on_removed,
};

/* A replay of files: the samples of the sink, and whether all files were whole. */
struct played {
	struct test_sink sink;
	bool is_whole;
	uint64_t took_ns;
	char said[4096];
};

static void say(struct played *played, struct replay *replay)
{
	struct pollfd event;
	struct output *log;
	int fd = memfd_create("log", MFD_CLOEXEC);
	ssize_t length;

	assert_int_equal(output__open(fd, "log", 65536, NULL, &log), 0);
	played->is_whole = replay__report(replay, log);
	event = (struct pollfd){ output__event_fd(log), POLLIN, 0 };
	output__end(log);
	while (!output__has_ended(log))
		assert_int_equal(poll(&event, 1, 60000), 1);
	output__close(log);
	length = pread(fd, played->said, sizeof(played->said) - 1, 0);
	assert_true(length >= 0);
	played->said[length] = '\0';
	close(fd);
}

static void on_ended(void *data)
{
	sd_event_exit(data, 0);
}

static void play(struct played *played, const struct replay_options *options)
{
	struct catalogs catalogs;
	struct replay_context context = {
		.worker_count = WORKERS,
		.catalogs = &catalogs,
		.sink = &played->sink.sink,
		.value_bytes = BUDGET_TEXT_BYTES,
		.options = options,
	};
	struct replay *replay;
	struct dart_error error;

	*played = (struct played){ };
	played->sink.sink.operations = &sink_operations;
	assert_true(sd_event_new(&context.event) >= 0);
	context.ended = on_ended;
	context.data = context.event;
	assert_int_equal(workers__start(WORKERS, &context.workers), 0);
	assert_int_equal(timers__new(context.event, &context.timers), 0);
	assert_int_equal(catalogs__open(&catalogs), 0);
	if (replay__new(&context, &replay, &error))
		fail_msg("%s", error.text);
	played->took_ns = monotonic_ns();
	assert_int_equal(sd_event_loop(context.event), 0);
	played->took_ns = monotonic_ns() - played->took_ns;
	workers__stop(context.workers);
	say(played, replay);
	replay__free(replay);
	timers__free(context.timers);
	assert_int_equal(content_store__count(&catalogs.catalogs), 0);
	catalogs__close(&catalogs);
	sd_event_unref(context.event);
}

/* Both targets take turns; the second is lost and removed before the last scrapes. */
static void make(struct recording *recording)
{
	struct shared_text *labels = shared_text__new("{\"rack\":\"a7\"}");
	struct ring *ring_of_one, *ring_of_two;
	uint64_t i;

	one.labels = labels;
	recording__make_directory(recording);
	recording__begin(recording);
	recording__add(recording, &one);
	recording__add(recording, &two);
	ring_of_one = recording__ring(&host, ROWS);
	ring_of_two = recording__ring(&host, ROWS + 1);
	for (i = 1; i <= SCRAPES; i++) {
		if (i == SCRAPES / 2) {
			/* Its table changes. */
			ring__release(ring_of_one);
			ring_of_one = recording__ring(&host, 2 * ROWS);
		}
		recording__scrape(recording, &one, ring_of_one, i);
		if (i < SCRAPES - 10)
			recording__scrape(recording, &two, ring_of_two, i);
		if (i == SCRAPES - 10) {
			recording__lose(recording, &two, "no answer");
			recording__take_off(recording, &two);
		}
	}
	ring__release(ring_of_one);
	ring__release(ring_of_two);
	assert_int_equal(recording__end(recording), 0);
	shared_text__release(labels);
	one.labels = NULL;
}

static void assert_heard(const struct heard *heard, uint64_t first, uint64_t last)
{
	assert_int_equal(heard->samples, last - first + 1);
	assert_int_equal(heard->first, first);
	assert_int_equal(heard->last, last);
	assert_int_equal(heard->disorder, 0);
	assert_int_equal(heard->wrong, 0);
}

static void test_all(void **state)
{
	struct recording recording;
	struct replay_options options;
	struct played played;
	const struct heard *heard = played.sink.heard;
	char *path = recording.path;

	make(&recording);
	options = (struct replay_options){ .files = &path, .file_count = 1 };
	play(&played, &options);
	assert_heard(&heard[0], 1, SCRAPES);
	assert_heard(&heard[1], 1, SCRAPES - 11);
	assert_string_equal(heard[0].name, "one:4792");
	assert_string_equal(heard[0].labels, "{\"rack\":\"a7\"}");
	assert_string_equal(heard[1].labels, "");
	assert_int_equal(heard[0].added, 1);
	assert_int_equal(heard[0].removed, 0);
	assert_int_equal(heard[1].losses, 1);
	assert_int_equal(heard[1].removed, 1);
	assert_true(played.is_whole);
	assert_string_equal(played.said, "");
	recording__remove(&recording);
}

static void test_part(void **state)
{
	struct recording recording;
	struct played played;
	const struct heard *heard = played.sink.heard;
	char *path = recording.path;
	struct replay_options options = {
		.files = &path,
		.file_count = 1,
		.from = { .is_set = true, .ns = REALTIME_NS + 50 * SECOND_NS },
		.to = { .is_set = true, .ns = REALTIME_NS + 150 * SECOND_NS },
	};

	make(&recording);
	play(&played, &options);
	assert_heard(&heard[0], 50, 149);
	assert_heard(&heard[1], 50, 149);
	assert_int_equal(heard[1].losses, 0);
	assert_true(played.is_whole);
	recording__remove(&recording);
}

static void test_speed(void **state)
{
	struct recording recording;
	struct played played;
	char *path = recording.path;
	struct replay_options options = {
		.files = &path,
		.file_count = 1,
		.to = { .is_set = true, .ns = REALTIME_NS + 7 * SECOND_NS },
		.speed = 50,
	};
	struct pace pace = { .speed = 50 };

	make(&recording);
	/* Five seconds lie between the first and the last. */
	play(&played, &options);
	assert_heard(&played.sink.heard[0], 1, 6);
	assert_true(played.took_ns >= 100000000);
	recording__remove(&recording);

	assert_int_equal(pace__due_ns(&pace, 7 * SECOND_NS, SECOND_NS), SECOND_NS);
	assert_int_equal(pace__due_ns(&pace, 12 * SECOND_NS, 2 * SECOND_NS), SECOND_NS + 100000000);
}

/* Files are in the order of time, however they are named. */
static void test_files(void **state)
{
	struct recording recording;
	char *paths[3], moved[128];
	struct replay_options options = { .files = paths, .file_count = 2 };
	struct played played;
	const struct heard *heard = played.sink.heard;

	make(&recording);
	snprintf(moved, sizeof(moved), "%s.1", recording.path);
	assert_int_equal(rename(recording.path, moved), 0);
	recording__begin(&recording);
	recording__add(&recording, &one);
	{
		struct ring *ring = recording__ring(&host, ROWS);

		recording__scrape(&recording, &one, ring, SCRAPES + 1);
		ring__release(ring);
	}
	assert_int_equal(recording__end(&recording), 0);
	paths[0] = recording.path;
	paths[1] = moved;
	play(&played, &options);
	assert_heard(&heard[0], 1, SCRAPES + 1);
	/* The other recording contains another target, although with this name. */
	assert_int_equal(heard[0].added, 2);
	assert_int_equal(heard[0].removed, 1);
	assert_true(played.is_whole);
	recording__remove(&recording);
}

/* The same host again and again, until its first files are gone. */
static void test_rotated(void **state)
{
	struct recording recording;
	char *paths[3], moved[2][128];
	struct replay_options options = { .files = paths, .file_count = 3 };
	struct played played;
	const struct heard *heard = played.sink.heard;
	struct ring *ring;
	uint64_t i;

	recording__make_directory(&recording);
	recording.settings.size = 1 << 20;
	recording.settings.files = 3;
	recording__begin(&recording);
	recording__add(&recording, &one);
	/* A new table for each, which makes a chunk of each: they do not become smaller. */
	for (i = 1; i <= 60; i++) {
		ring = recording__ring(&host, 60000);
		recording__scrape(&recording, &one, ring, i);
		ring__release(ring);
	}
	assert_int_equal(recording__end(&recording), 0);
	assert_true(recording__size(&recording, 2) > 0);
	for (i = 0; i < 2; i++)
		snprintf(moved[i], sizeof(moved[i]), "%s.%u", recording.path, (unsigned int)i + 1);
	paths[0] = recording.path;
	paths[1] = moved[0];
	paths[2] = moved[1];
	play(&played, &options);
	assert_true(heard[0].samples > 10);
	assert_heard(&heard[0], 60 - heard[0].samples + 1, 60);
	/* It is the same target in all of them. */
	assert_int_equal(heard[0].added, 1);
	assert_true(played.is_whole);
	recording__remove(&recording);
}

/* The host lost its power before the header of a file was on the disk. */
static void test_empty(void **state)
{
	struct recording recording;
	unsigned int files;
	int fd;

	for (files = 1; files <= 3; files++) {
		recording__make_directory(&recording);
		recording.settings.files = files;
		fd = open(recording.path, O_WRONLY | O_CREAT, 0600);
		assert_true(fd >= 0);
		close(fd);
		recording__begin(&recording);
		assert_int_equal(recording__end(&recording), 0);
		assert_true(recording__size(&recording, 0) > 0);
		/* A replay would refuse the empty file. */
		assert_int_equal(recording__size(&recording, 1), -1);
		recording__remove(&recording);
	}
}

static void test_cut(void **state)
{
	struct recording recording;
	struct replay_options options;
	struct played played;
	const struct heard *heard = played.sink.heard;
	char *path = recording.path;

	make(&recording);
	assert_int_equal(truncate(path, recording__size(&recording, 0) - 5), 0);
	options = (struct replay_options){ .files = &path, .file_count = 1 };
	play(&played, &options);
	assert_heard(&heard[0], 1, SCRAPES - 10);
	assert_false(played.is_whole);
	assert_non_null(strstr(played.said, "is cut off"));
	assert_ptr_equal(strchr(played.said, '\n'), played.said + strlen(played.said) - 1);
	recording__remove(&recording);
}

/* Changes a record of the first chunk with @type, and seals the chunk again. */
static void tamper(const char *path, enum record_type type, void (*change)(void *record))
{
	struct chunk_packer unpacker = { }, packer = { };
	struct record_chunk_header header;
	struct record_head *head;
	uint8_t *records, *chunk, stored[65536], file[65536];
	size_t at, size, length, place = sizeof(struct record_file_header);
	int fd = open(path, O_RDWR);
	bool is_done = false;

	length = pread(fd, file, sizeof(file), 0);
	assert_in_range(length, place, sizeof(file) - 1);
	while (!is_done) {
		memcpy(&header, file + place, sizeof(header));
		assert_true(chunk__is_header(&header));
		size = chunk__stored_size(&header);
		memcpy(stored, file + place + sizeof(header), size);
		assert_int_equal(chunk_packer__unpack(&unpacker, &header, stored, &records), 0);
		for (at = 0; at < le32toh(header.raw_length); at += le32toh(head->length)) {
			head = (struct record_head *)(records + at);
			if (le32toh(head->type) != type)
				continue;
			change(head);
			is_done = true;
			break;
		}
		if (is_done)
			break;
		place += sizeof(header) + size;
	}
	{
		const struct chunk_content content = {
			.flags = le32toh(header.flags),
			.records = le32toh(header.records),
			.first_ns = le64toh(header.first_ns),
			.last_ns = le64toh(header.last_ns),
		};
		const size_t rest = place + sizeof(header) + size;

		assert_int_equal(chunk_packer__pack(&packer, records, le32toh(header.raw_length),
						    &content, &chunk, &size),
				 0);
		chunk__number(chunk, le64toh(header.number));
		assert_int_equal(ftruncate(fd, place), 0);
		assert_int_equal(pwrite(fd, chunk, size, place), size);
		assert_int_equal(pwrite(fd, file + rest, length - rest, place + size),
				 length - rest);
	}
	close(fd);
	chunk_packer__close(&packer);
	chunk_packer__close(&unpacker);
}

static void change_name(void *record)
{
	((char *)record)[sizeof(struct record_target)] = '\x1b';
}

static void change_labels(void *record)
{
	char *labels = (char *)record + sizeof(struct record_target) + strlen("one:4792");

	*labels = '[';
}

static void change_read(void *record)
{
	struct record_table *table = record;
	struct record_read *read = (struct record_read *)(table + 1);

	read->landing = htole64(8);
}

static void change_landing(void *record)
{
	struct record_table *table = record;

	table->landing_length = htole32(~0);
}

static void change_table(void *record)
{
	struct record_table *table = record;
	uint8_t *bytes =
		(uint8_t *)(table + 1) + le32toh(table->read_count) * sizeof(struct record_read);

	bytes[200] ^= 1;
}

static void test_hostile(void **state)
{
	static const struct {
		enum record_type type;
		void (*change)(void *record);
		const char *sentence;
		unsigned int samples;	/* of the target that is not concerned */
	} cases[] = {
		{ RECORD_TARGET, change_name, "a name that is none", 189 },
		{ RECORD_TARGET, change_labels, "labels that are none", 189 },
		{ RECORD_TABLE, change_read, "READ in another way", 189 },
		{ RECORD_TABLE, change_landing, "", 189 },
		{ RECORD_TABLE, change_table, "table refused: ", 189 },
	};
	struct recording recording;
	struct replay_options options;
	struct played played;
	char *path = recording.path;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(&recording);
		tamper(path, cases[i].type, cases[i].change);
		options = (struct replay_options){
			.files = &path,
			.file_count = 1,
		};
		play(&played, &options);
		assert_int_equal(played.sink.heard[1].samples, cases[i].samples);
		assert_int_equal(played.sink.heard[1].wrong, 0);
		assert_false(played.is_whole);
		assert_non_null(strstr(played.said, cases[i].sentence));
		recording__remove(&recording);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("all scrapes are replayed as they were: values, times, names, losses",
		     test_all),
		TEST("a part by time is replayed", test_part),
		TEST("a replay takes as long as its speed says", test_speed),
		TEST("files of two recordings are replayed in the order of time", test_files),
		TEST("the files of one recording are one replay", test_rotated),
		TEST("an empty file, which a crash left, is replaced by a recording", test_empty),
		TEST("a cut file is replayed up to the cut, and one sentence says so", test_cut),
		TEST("hostile names, labels and tables are refused, and all else is replayed",
		     test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
