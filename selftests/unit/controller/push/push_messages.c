// SPDX-License-Identifier: GPL-2.0-only
/* Bodies of requests: remote write 1.0 and 2.0, and lines for InfluxDB. */
#include <errno.h>
#include <math.h>
#include <zlib.h>

#include <libdart/random.h>

#include "push_decode.h"
#include "tools/controller/push/formats/formats.h"
#include "tools/controller/push/formats/remote_write_read.h"
#include "tools/controller/push/queue/encoder.h"

static const struct metric_family families[] = {
	{ .name = "up",
	  .help = "help",
	  .unit = "seconds",
	  .type = METRIC_COUNTER,
	  .series_count = 2 },
};

static const struct metric_label own[] = { { "job", "x" }, { "zone", "1" } };
static const struct metric_series series[] = {
	{ .name = "up", .text = "" },
	{ .name = "up",
	  .label_count = 2,
	  .labels = own,
	  .text = "job=\"x\",zone=\"1\"" },
};

static const char *const label_names[] = { "job", "zone" };

/* A plan without labels that a target carries, too. */
static const struct metric_plan plain = { .series_count = 0 };
static struct metric_plan plan = {
	.families = families,
	.family_count = 1,
	.series = series,
	.series_count = 2,
	.label_names = label_names,
	.label_name_count = 2,
};

struct metric_plan *metric_plan__get(struct metric_plan *held)
{
	return held;
}

void metric_plan__put(struct metric_plan *held)
{
}

static char name[] = "h:1";

/* With labels of the target in JSON. */
static struct label_set *make_set(const char *labels, const json_t *of_output,
				  const struct metric_plan *beside)
{
	struct target_settings target = { .name = name };
	struct label_set *set;

	target.labels = labels ? shared_text__new(labels) : NULL;
	set = label_set__new(&target, NULL, of_output, beside, NULL);
	assert_non_null(set);
	shared_text__release(target.labels);
	return set;
}

static struct merged_labels merged;

static void expect_labels(const struct label_set *set,
			  const struct metric_series *of, const char *expected)
{
	char text[1000] = "";
	size_t i;

	assert_true(label_set__merge(set, of, &merged));
	for (i = 0; i < merged.count; i++)
		sprintf(text + strlen(text), "%s=%s ", merged.labels[i].name,
			merged.labels[i].value);
	assert_string_equal(text, expected);
}

static void test_labels(void **state)
{
	json_t *of_output = json_pack("{s:s, s:s, s:s}", "job", "", "rack", "b", "site", "n");
	struct label_set *set;

	set = make_set(NULL, NULL, &plan);
	expect_labels(set, series, "__name__=up instance=h:1 target_job=dart ");
	expect_labels(set, series + 1, "__name__=up instance=h:1 job=x target_job=dart zone=1 ");
	label_set__release(set);
	/* A label of the target with that name of its own. */
	set = make_set("{\"zone\":\"2\"}", NULL, &plain);
	expect_labels(set, series + 1, "__name__=up instance=h:1 job=x zone=1 ");
	label_set__release(set);
	set = make_set("{\"Upper\":\"u\",\"__x\":\"no\",\"rack\":\"a\"}", of_output, &plain);
	expect_labels(set, series, "Upper=u __name__=up instance=h:1 rack=a site=n ");
	label_set__release(set);
	json_decref(of_output);
}

/* Names of any UTF-8, for 2.0 and lines, and plain names for 1.0. */
static void test_names(void **state)
{
	struct label_set *set = make_set("{\"host.name\":\"a\",\"host_name\":\"b\"}", NULL, &plain);

	expect_labels(set, series, "__name__=up host.name=a host_name=b instance=h:1 job=dart ");
	expect_labels(label_set__plain(set), series,
		      "__name__=up host_name=b instance=h:1 job=dart target_host_name=a ");
	label_set__release(set);
	/* No label of the target uses the name of a series label, or is renamed to it. */
	set = make_set("{\"zone\":\"2\",\"target_zone\":\"3\"}", NULL, &plan);
	assert_ptr_equal(label_set__plain(set), set);
	expect_labels(set, series + 1,
		      "__name__=up instance=h:1 job=x target_job=dart target_target_zone=2 target_zone=3 zone=1 ");
	label_set__release(set);
}

static void free_draft(struct draft *draft)
{
	bytes__free(&draft->series);
	symbols__free(&draft->symbols);
}

/* Messages that waited as 2.0 get the same names when it turns out that 1.0 is wanted. */
static void test_converted_names(void **state)
{
	const struct metric_point point = { .value = 1, .time_ns = 1000000000 };
	struct label_set *set = make_set("{\"Rack.Nr\":\"a\",\"host.name\":\"b\",\"host_name\":\"c\"}",
					 NULL, &plain);
	struct draft draft = {}, first = {};
	struct bytes converted = {};

	assert_true(label_set__merge(label_set__plain(set), series, &merged));
	format_remote_write_1.put(&first, &merged, families, &point, 1);
	assert_true(label_set__merge(set, series, &merged));
	format_remote_write_2.put(&draft, &merged, families, &point, 1);
	bytes__put(&draft.symbols.fields, draft.series.data, draft.series.length);
	assert_int_equal(remote_write_2__convert(draft.symbols.fields.data, draft.symbols.fields.length,
					       &converted),
			 0);
	assert_int_equal(converted.length, first.series.length);
	assert_memory_equal(converted.data, first.series.data, first.series.length);
	free_draft(&draft);
	free_draft(&first);
	bytes__free(&converted);
	label_set__release(set);
}

#define SAMPLE "\x12\x0c\x09\0\0\0\0\0\0\xf0\x3f\x10\xe8\x07"

static void expect_bytes(const struct bytes *bytes, const char *expected, size_t length)
{
	assert_false(bytes->has_failed);
	assert_int_equal(bytes->length, length);
	assert_memory_equal(bytes->data, expected, length);
}

static void test_golden(void **state)
{
	static const char first[] = "\x0a\x3c"
				    "\x0a\x0e\x0a\x08__name__\x12\x02up"
				    "\x0a\x0f\x0a\x08instance\x12\x03h:1"
				    "\x0a\x0b\x0a\x03job\x12\x04"
				    "dart" SAMPLE;
	static const char symbols_field[] =
		"\x22\0\x22\x08__name__\x22\x02up\x22\x08instance\x22\x03h:1"
		"\x22\x03job\x22\x04"
		"dart\x22\x04help\x22\x07seconds";
	static const char second[] = "\x2a\x1e\x0a\x06\x01\x02\x03\x04\x05\x06" SAMPLE
				     "\x2a\x06\x08\x01\x18\x07\x20\x08";
	const struct metric_point point = { .value = 1, .time_ns = 1000000000 };
	struct label_set *set = make_set(NULL, NULL, &plain);
	struct bytes converted = {};
	struct draft draft = {};

	assert_true(label_set__merge(set, series, &merged));
	format_remote_write_1.put(&draft, &merged, families, &point, 1);
	expect_bytes(&draft.series, first, sizeof(first) - 1);
	bytes__empty(&draft.series);

	format_remote_write_2.put(&draft, &merged, families, &point, 1);
	expect_bytes(&draft.symbols.fields, symbols_field, sizeof(symbols_field) - 1);
	expect_bytes(&draft.series, second, sizeof(second) - 1);
	bytes__put(&draft.symbols.fields, draft.series.data, draft.series.length);
	assert_int_equal(remote_write_2__convert(draft.symbols.fields.data,
						 draft.symbols.fields.length, &converted),
			 0);
	expect_bytes(&converted, first, sizeof(first) - 1);
	free_draft(&draft);
	bytes__free(&converted);
	label_set__release(set);
}

/* A value of 0, and a NaN that marks the end of the series. */
static void test_values(void **state)
{
	static const uint64_t stale = FORMAT_STALE;
	struct metric_point points[2] = { { .time_ns = 1000000 }, { .time_ns = 2000000 } };
	struct label_set *set = make_set(NULL, NULL, &plain);
	struct draft draft = {};
	char *text;

	memcpy(&points[1].value, &stale, sizeof(stale));
	assert_true(label_set__merge(set, series, &merged));
	format_remote_write_1.put(&draft, &merged, families, points, 2);
	text = decode_body(false, draft.series.data, draft.series.length);
	assert_string_equal(text, "1 0000000000000000 __name__=up instance=h:1 job=dart\n"
				  "2 7ff0000000000002 __name__=up instance=h:1 job=dart\n");
	free(text);
	free_draft(&draft);
	label_set__release(set);
}

/* Each prefix of a message, and each with a byte changed, is refused or converted. */
static void test_hostile(void **state)
{
	const struct metric_point point = { .value = 1, .time_ns = 1000000000 };
	struct label_set *set = make_set(NULL, NULL, &plain);
	struct bytes converted = {};
	struct draft draft = {};
	uint8_t *copy;
	size_t i;

	assert_true(label_set__merge(set, series + 1, &merged));
	format_remote_write_2.put(&draft, &merged, families, &point, 1);
	bytes__put(&draft.symbols.fields, draft.series.data, draft.series.length);
	for (i = 0; i < draft.symbols.fields.length; i++) {
		/* Its end is known to AddressSanitizer. */
		copy = malloc(i + 1);
		memcpy(copy, draft.symbols.fields.data, i);
		remote_write_2__convert(copy, i, &converted);
		copy[i] = 0xff;
		remote_write_2__convert(copy, i + 1, &converted);
		free(copy);
		bytes__empty(&converted);
	}
	assert_int_equal(remote_write_2__convert("\x2a\x04\x0a\x02\x01\x02", 6, &converted),
			 -EINVAL);
	free_draft(&draft);
	bytes__free(&converted);
	label_set__release(set);
}

static void test_symbols(void **state)
{
	struct symbols symbols = {};
	uint32_t i, round;
	char text[16];

	for (round = 0; round < 2; round++) {
		for (i = 1; i <= 5000; i++) {
			sprintf(text, "%u", i);
			assert_int_equal(symbols__find(&symbols, text), i);
		}
		assert_int_equal(symbols__find(&symbols, ""), 0);
		assert_int_equal(symbols__find(&symbols, "17"), 17);
		symbols__empty(&symbols);
	}
	symbols__free(&symbols);
}

struct taken {
	unsigned int count;
	uint32_t samples, most;
	char *texts[16];
};

static void take(void *data, struct message *message)
{
	struct taken *taken = data;

	assert_true(taken->count < 16);
	taken->samples += message->samples;
	if (message->samples > taken->most)
		taken->most = message->samples;
	taken->texts[taken->count++] = decode_compressed(message->format == &format_remote_write_2,
							 message->body, message->length);
	free(message);
}

static void encode(const struct format *format, uint32_t batch, struct taken *taken)
{
	static struct encoder encoder;
	struct label_set *set = make_set(NULL, NULL, &plan);
	struct block *block = block__new(&plan, set);
	struct metric_point *row;
	unsigned int i;

	for (i = 1; i <= 3; i++) {
		row = calloc(2, sizeof(*row));
		row[0].time_ns = i * 1000000;
		row[1].time_ns = i == 2 ? 0 : i * 1000000;
		row[1].value = 1;
		block__add(block, row, i == 2 ? 1 : 2);
	}
	encoder = (struct encoder){
		.format = format,
		.batch = batch,
		.lanes = 1,
	};
	encoder__add(&encoder, block, 0, take, taken);
	encoder__finish(&encoder, take, taken);
	encoder__finish(&encoder, take, taken);
	assert_int_equal(encoder.unsent, 0);
	encoder__free(&encoder);
	block__free(block);
	label_set__release(set);
}

static void free_taken(struct taken *taken)
{
	unsigned int i;

	for (i = 0; i < taken->count; i++)
		free(taken->texts[i]);
}

static void test_batches(void **state)
{
	struct taken first = {}, second = {}, small = {};

	encode(&format_remote_write_1, 100, &first);
	encode(&format_remote_write_2, 100, &second);
	encode(&format_remote_write_2, 3, &small);
	assert_int_equal(first.count, 1);
	assert_int_equal(first.samples, 5);
	assert_string_equal(
		first.texts[0],
		"1 0000000000000000 __name__=up instance=h:1 target_job=dart\n"
		"2 0000000000000000 __name__=up instance=h:1 target_job=dart\n"
		"3 0000000000000000 __name__=up instance=h:1 target_job=dart\n"
		"1 3ff0000000000000 __name__=up instance=h:1 job=x target_job=dart zone=1\n"
		"3 3ff0000000000000 __name__=up instance=h:1 job=x target_job=dart zone=1\n");
	assert_int_equal(second.count, 1);
	assert_string_equal(first.texts[0], second.texts[0]);
	assert_int_equal(small.count, 2);
	assert_int_equal(small.samples, 5);
	assert_int_equal(small.most, 3);
	free_taken(&first);
	free_taken(&second);
	free_taken(&small);
}

#define FAMILIES 40
#define ROWS 25
#define MANY (FAMILIES * ROWS)
#define SCRAPES 10
/* For each sample, of which a value and a time alone have 16. */
#define BYTES_MOST 6

/* A host with MANY counters, whose texts live as long as it. */
struct many {
	char names[FAMILIES][40], helps[FAMILIES][40], texts[ROWS][16], rows[ROWS][4];
	struct metric_label labels[ROWS];
	struct metric_family families[FAMILIES];
	struct metric_series series[MANY];
	struct metric_plan plan;
};

static void make_many(struct many *many)
{
	unsigned int i;

	for (i = 0; i < FAMILIES; i++) {
		sprintf(many->names[i], "dart_disks_field_%u_total", i);
		sprintf(many->helps[i], "Field %u of disks.", i);
		many->families[i] = (struct metric_family){
			.name = many->names[i],
			.help = many->helps[i],
			.unit = "",
			.type = METRIC_COUNTER,
			.series_count = ROWS,
		};
	}
	for (i = 0; i < ROWS; i++) {
		sprintf(many->rows[i], "%u", i);
		sprintf(many->texts[i], "row=\"%u\"", i);
		many->labels[i] = (struct metric_label){ "row", many->rows[i] };
	}
	for (i = 0; i < MANY; i++)
		many->series[i] = (struct metric_series){
			.family = i / ROWS,
			.name = many->names[i / ROWS],
			.text = many->texts[i % ROWS],
			.labels = many->labels + i % ROWS,
			.label_count = 1,
		};
	many->plan = (struct metric_plan){
		.families = many->families,
		.family_count = FAMILIES,
		.series = many->series,
		.series_count = MANY,
	};
}

/* Counters of all sizes, of which two in five change from one scrape to the next. */
static struct block *make_block(struct many *many, struct label_set *set)
{
	struct block *block = block__new(&many->plan, set);
	struct dart_random random = dart_random__of(1);
	struct metric_point *row;
	uint64_t values[MANY];
	unsigned int i, k;

	for (i = 0; i < MANY; i++)
		values[i] = dart_random__next(&random) >>
			    (24 + dart_random__below(&random, 40));
	for (k = 0; k < SCRAPES; k++) {
		row = calloc(MANY, sizeof(*row));
		for (i = 0; i < MANY; i++) {
			if (i % 5 < 2)
				values[i] += dart_random__below(&random, 100000);
			row[i].value = values[i];
			row[i].time_ns = (1700000000 + (int64_t)k) * 1000000000;
		}
		block__add(block, row, MANY);
	}
	return block;
}

struct sum {
	size_t samples, bytes;
};

static void add_to_sum(void *data, struct message *message)
{
	struct sum *sum = data;

	sum->samples += message->samples;
	sum->bytes += message->length;
	free(message);
}

/* Its series are in the order of a plan, and have SCRAPES samples each. */
static void expect_short(const struct format *format)
{
	static struct encoder encoder;
	static struct many many;
	struct label_set *set;
	struct block *block;
	struct sum sum = {};

	make_many(&many);
	set = make_set(NULL, NULL, &many.plan);
	block = make_block(&many, set);
	encoder = (struct encoder){ .format = format, .batch = SCRAPES * MANY, .lanes = 1 };
	encoder__add(&encoder, block, 0, add_to_sum, &sum);
	encoder__finish(&encoder, add_to_sum, &sum);
	encoder__free(&encoder);
	block__free(block);
	label_set__release(set);
	assert_int_equal(sum.samples, SCRAPES * MANY);
	assert_in_range(sum.bytes, sum.samples, BYTES_MOST * sum.samples);
}

static void test_length(void **state)
{
	expect_short(&format_remote_write_1);
	expect_short(&format_remote_write_2);
}

static void expect_lines(const struct metric_point *points, size_t count,
			 size_t written, const char *expected)
{
	struct draft draft = {};

	assert_int_equal(format_influx.put(&draft, &merged, families, points, count), written);
	bytes__put_byte(&draft.series, '\0');
	assert_string_equal(draft.series.data, expected);
	free_draft(&draft);
}

static void test_lines(void **state)
{
	static const struct metric_label strange[] = { { "k", "a=b, c\\x0ad\\x5c" } };
	const struct metric_series of = {
		.name = "a b,c", .label_count = 1, .labels = strange,
	};
	struct metric_point points[] = {
		{ 0.1, 1 },	    { 3, 2 },	 { NAN, 3 },
		{ INFINITY, 4 },    { 1e300, 5 }, { 4.9999999999999993e-09, 6 },
		{ -1, INT64_MAX },
	};
	struct label_set *set = make_set(NULL, NULL, &plain);

#define TAGS "a\\ b\\,c,instance=h:1,job=dart,k=a\\=b\\,\\ c\\x0ad\\x5c "
	assert_true(label_set__merge(set, &of, &merged));
	expect_lines(points, 7, 5,
		     TAGS "value=0.1 1\n" TAGS "value=3 2\n" TAGS "value=1e+300 5\n" TAGS
			  "value=4.999999999999999e-09 6\n" TAGS "value=-1 9223372036854775807\n");
	expect_lines(points + 2, 2, 0, "");
	label_set__release(set);
}

/* Values of rules: no other has such characters. */
static void test_lines_of_rules(void **state)
{
	static const struct metric_label made[] = { { "k", "a\nb value=1\n\\,c\\ d\\=\\e\\" } };
	const struct metric_series of = { .name = "a", .label_count = 1, .labels = made };
	const struct metric_point point = { 1, 2 };
	struct label_set *set = make_set(NULL, NULL, &plain);

	assert_true(label_set__merge(set, &of, &merged));
	expect_lines(&point, 1, 1,
		     "a,instance=h:1,job=dart,k="
		     "a\\x0ab\\ value\\=1\\x0a\\x5c\\,c\\x5c\\ d\\x5c\\=\\e\\x5c value=1 2\n");
	label_set__release(set);
}

static void test_gzip(void **state)
{
	char plain[5000], again[6000];
	struct message *message;
	z_stream stream = { .next_out = (Bytef *)again, .avail_out = sizeof(again) };

	memset(plain, 'x', sizeof(plain));
	assert_int_equal(message__pack(&format_influx, 1, plain, sizeof(plain), &message), 0);
	assert_true(message->length < 100);
	stream.next_in = message->body;
	stream.avail_in = message->length;
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, sizeof(plain));
	assert_memory_equal(again, plain, sizeof(plain));
	inflateEnd(&stream);
	free(message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("labels are in order, those of targets win, a series' own are renamed",
		     test_labels),
		TEST("names stay as they were given for 2.0, and are plain for 1.0; none is there twice",
		     test_names),
		TEST("a conversion to 1.0 makes names plain, in their order", test_converted_names),
		TEST("messages of 1.0 and 2.0 have the bytes of their specifications", test_golden),
		TEST("zero and the mark of a series that ended are sent as they are", test_values),
		TEST("conversion to 1.0 reads no byte behind a broken message", test_hostile),
		TEST("each text of a message is a symbol once", test_symbols),
		TEST("both versions say the same, and series are not cut in messages",
		     test_batches),
		TEST("ten samples of a series take at most six bytes each", test_length),
		TEST("lines escape, leave out what is not finite, and values are exact",
		     test_lines),
		TEST("no value of a rule ends a line or hides a separator of it",
		     test_lines_of_rules),
		TEST("lines are compressed as gzip", test_gzip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
