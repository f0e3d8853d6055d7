// SPDX-License-Identifier: GPL-2.0-only
/* Messages of OTLP/HTTP. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "selftests/unit/unit.h"
#include "tools/controller/push/formats/formats.h"
#include "tools/controller/push/formats/pieces.h"
#include "tools/controller/push/formats/protobuf.h"
#include "tools/controller/push/queue/encoder.h"

#define SECOND 1000000000LL

struct metric_plan *metric_plan__get(struct metric_plan *plan)
{
	return plan;
}

void metric_plan__put(struct metric_plan *plan)
{
}

/* ---- messages as text: "resource{KEY=VALUE ...}", "metric NAME TYPE" and "{...} VALUE@SECOND" */

struct text {
	char *bytes;
	size_t size;
	FILE *out;
};

static void print_attribute(struct text *text, struct protobuf_reader pair)
{
	struct protobuf_field key = {}, any = {}, value = {};

	assert_true(protobuf__read(&pair, &key) && key.number == 1);
	assert_true(protobuf__read(&pair, &any) && any.number == 2);
	assert_ptr_equal(pair.at, pair.end);
	assert_true(protobuf__read(&any.bytes, &value) && value.number == 1);
	fprintf(text->out, "%.*s=%.*s ", (int)(key.bytes.end - key.bytes.at), key.bytes.at,
		(int)(value.bytes.end - value.bytes.at), value.bytes.at);
}

static void print_attributes(struct text *text, struct protobuf_reader message, unsigned int number)
{
	struct protobuf_field field = {};

	fprintf(text->out, "{");
	while (protobuf__read(&message, &field))
		if (field.number == number && field.type == PROTOBUF_BYTES)
			print_attribute(text, field.bytes);
	fprintf(text->out, "}");
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void print_packed(struct text *text, struct protobuf_reader packed, bool is_double)
{
	uint64_t bits;

	for (; packed.at < packed.end; packed.at += 8) {
		memcpy(&bits, packed.at, 8);
		bits = le64toh(bits);
		if (is_double)
			fprintf(text->out, "<=%g ", double_of(bits));
		else
			fprintf(text->out, "%llu ", (unsigned long long)bits);
	}
}

static void print_point(struct text *text, struct protobuf_reader point, unsigned int data)
{
	const bool is_histogram = data == 9;
	struct protobuf_reader fields = point;
	struct protobuf_field field = {};
	uint64_t time_ns = 0;

	print_attributes(text, point, is_histogram ? 9 : 7);
	while (fields.at < fields.end) {
		assert_true(protobuf__read(&fields, &field));
		if (field.number == 3)
			time_ns = field.value;
		else if (field.number == 4 && is_histogram)
			fprintf(text->out, " count=%llu ", (unsigned long long)field.value);
		else if (field.number == 4)
			fprintf(text->out, " %g", double_of(field.value));
		else if (is_histogram && (field.number == 6 || field.number == 7))
			print_packed(text, field.bytes, field.number == 7);
		else if (field.number == (is_histogram ? 10 : 8))
			fprintf(text->out, " flags=%llu ", (unsigned long long)field.value);
		else
			assert_int_equal(field.number, is_histogram ? 9 : 7);
	}
	fprintf(text->out, "@%g\n", (double)time_ns / SECOND);
}

static void print_metric(struct text *text, struct protobuf_reader metric)
{
	struct protobuf_field field = {}, part = {};

	fprintf(text->out, "metric");
	while (metric.at < metric.end) {
		assert_true(protobuf__read(&metric, &field));
		if (field.number <= 3) {
			fprintf(text->out, " %.*s", (int)(field.bytes.end - field.bytes.at),
				field.bytes.at);
			continue;
		}
		if (field.number == 12)
			continue;
		fprintf(text->out, " %u\n", field.number);
		while (field.bytes.at < field.bytes.end) {
			assert_true(protobuf__read(&field.bytes, &part));
			if (part.number == 1)
				print_point(text, part.bytes, field.number);
		}
	}
}

/* Calls @print for each message @number inside of @message. */
static void print_each(struct text *text, struct protobuf_reader message, unsigned int number,
		       void (*print)(struct text *text, struct protobuf_reader message))
{
	struct protobuf_field field = {};

	while (message.at < message.end) {
		assert_true(protobuf__read(&message, &field));
		assert_int_equal(field.type, PROTOBUF_BYTES);
		if (field.number == number)
			print(text, field.bytes);
	}
}

static void print_scope(struct text *text, struct protobuf_reader scope)
{
	print_each(text, scope, 2, print_metric);
}

static void print_resource(struct text *text, struct protobuf_reader resource)
{
	struct protobuf_reader copy = resource;
	struct protobuf_field field = {};

	assert_true(protobuf__read(&copy, &field) && field.number == 1);
	fprintf(text->out, "resource");
	print_attributes(text, field.bytes, 1);
	fprintf(text->out, "\n");
	print_each(text, resource, 2, print_scope);
}

static void expect_body(const void *bytes, size_t length, const char *expected)
{
	const struct protobuf_reader body = {
		.at = bytes,
		.end = (const uint8_t *)bytes + length,
	};
	struct text text = {};

	text.out = open_memstream(&text.bytes, &text.size);
	assert_non_null(text.out);
	print_each(&text, body, 1, print_resource);
	fclose(text.out);
	assert_string_equal(text.bytes, expected);
	free(text.bytes);
}

static void expect_message(const struct message *message, const char *expected)
{
	struct bytes bytes = {};

	assert_int_equal(compression_gzip.unpack(message->body, message->length, &bytes), 0);
	expect_body(bytes.data, bytes.length, expected);
	bytes__free(&bytes);
}

static void expect_draft(struct draft *draft, const char *expected)
{
	expect_body(draft->series.data, draft->series.length, expected);
	bytes__free(&draft->series);
	*draft = (struct draft){};
}

/* ---- series */

static const struct metric_family counter = {
	.name = "a_seconds_total",
	.help = "help",
	.unit = "seconds",
	.type = METRIC_COUNTER,
};
static const struct metric_family gauge = { .name = "b",
					    .help = "",
					    .unit = "",
					    .type = METRIC_GAUGE };
static const struct metric_family unknown = {
	.name = "b",
	.help = "",
	.unit = "",
	.type = METRIC_UNTYPED,
};

static size_t put(struct draft *draft, const struct metric_family *family, const char *instance,
		  const char *cpu, double value)
{
	const struct merged_labels labels = {
		.count = 4,
		.labels = {
			{ "__name__", family->name },
			{ "cpu", cpu },
			{ "instance", instance },
			{ "job", "dart" },
		},
	};
	const struct metric_point points[] = {
		{ .value = value, .time_ns = SECOND },
		{ .value = value + 1, .time_ns = 2 * SECOND },
	};

	return format_otlp.put(draft, &labels, family, points, 2);
}

#define RESOURCE(host) \
	"resource{service.instance.id=" host ":1 service.name=dart host.name=" host " }\n"

/* A resource and a metric are there once for adjacent series. */
static void test_grouped(void **state)
{
	struct draft draft = {};

	assert_int_equal(put(&draft, &counter, "h1:1", "0", 1), 2);
	assert_int_equal(put(&draft, &counter, "h1:1", "1", 5), 2);
	assert_int_equal(put(&draft, &gauge, "h1:1", "0", 7), 2);
	assert_int_equal(put(&draft, &unknown, "h1:1", "0", 8), 2);
	assert_int_equal(put(&draft, &unknown, "h2:1", "0", 9), 2);
	expect_draft(&draft,
		     RESOURCE("h1") "metric a_seconds_total help s 7\n"
				    "{cpu=0 } 1@1\n{cpu=0 } 2@2\n"
				    "{cpu=1 } 5@1\n{cpu=1 } 6@2\n"
				    "metric b 5\n{cpu=0 } 7@1\n{cpu=0 } 8@2\n"
				    "metric b 5\n{cpu=0 } 8@1\n{cpu=0 } 9@2\n" RESOURCE(
					    "h2") "metric b 5\n{cpu=0 } 9@1\n{cpu=0 } 10@2\n");
}

/* The same after another message, whose places do not count any more. */
static void test_next_draft(void **state)
{
	struct draft draft = {};

	put(&draft, &gauge, "h1:1", "0", 1);
	bytes__empty(&draft.series);
	put(&draft, &gauge, "h1:1", "0", 1);
	expect_draft(&draft, RESOURCE("h1") "metric b 5\n{cpu=0 } 1@1\n{cpu=0 } 2@2\n");
}

static void expect_resource(const struct merged_labels *labels, const char *expected)
{
	const struct metric_point point = { .value = 1, .time_ns = SECOND };
	struct draft draft = {};

	assert_int_equal(format_otlp.put(&draft, labels, &gauge, &point, 1), 1);
	expect_draft(&draft, expected);
}

static void expect_host(const char *instance, const char *host)
{
	const struct merged_labels labels = {
		.count = 2,
		.labels = { { "__name__", "b" }, { "instance", instance } },
	};
	char expected[200];

	snprintf(expected, sizeof(expected),
		 "resource{service.instance.id=%s host.name=%s }\nmetric b 5\n{} 1@1\n", instance,
		 host);
	expect_resource(&labels, expected);
}

/* Labels that are attributes of the resource. */
static void test_resource(void **state)
{
	const struct merged_labels own = {
		.count = 7,
		.labels = {
			{ "__name__", "b" },
			{ "deployment.environment.name", "test" },
			{ "host.name", "other" },
			{ "instance", "h:1" },
			{ "job", "dart" },
			{ "rack", "a7" },
			{ "service.name", "shop" },
		},
	};
	const struct merged_labels none = { .count = 1, .labels = { { "__name__", "b" } } };

	expect_resource(&own, "resource{deployment.environment.name=test host.name=other "
			      "service.instance.id=h:1 service.name=shop }\n"
			      "metric b 5\n{job=dart rack=a7 } 1@1\n");
	expect_resource(&none, "resource{}\nmetric b 5\n{} 1@1\n");
	expect_host("h.example.com:4792", "h.example.com");
	expect_host("[2001:db8::1]:4792", "2001:db8::1");
	expect_host("2001:db8::1", "2001:db8::1");
	expect_host("h", "h");
	expect_host("a:b", "a:b");
	expect_host(":1", ":1");
}

static void test_values(void **state)
{
	const struct merged_labels labels = { .count = 1, .labels = { { "__name__", "b" } } };
	struct metric_point points[] = {
		{ .value = NAN, .time_ns = SECOND },
		{ .value = -INFINITY, .time_ns = 2 * SECOND },
		{ .value = 0, .time_ns = 3 * SECOND },
		{ .time_ns = 4 * SECOND },
	};
	static const uint64_t stale = FORMAT_STALE;
	struct draft draft = {};

	memcpy(&points[3].value, &stale, sizeof(stale));
	assert_int_equal(format_otlp.put(&draft, &labels, &gauge, points, 4), 4);
	expect_draft(&draft,
		     "resource{}\nmetric b 5\n{} nan@1\n{} -inf@2\n{} 0@3\n{} flags=1 @4\n");
}

/* ---- histograms */

#define BUCKETS 3

static const struct metric_label bounds[2 * BUCKETS][2] = {
	{ { "disk", "a" }, { "le", "+Inf" } },	{ { "disk", "a" }, { "le", "0.003" } },
	{ { "disk", "a" }, { "le", "1e-3" } },	{ { "disk", "b" }, { "le", "+Inf" } },
	{ { "disk", "b" }, { "le", "0.003" } }, { { "disk", "b" }, { "le", "1e-3" } },
};
static const struct metric_family families[] = {
	{ .name = "latency_seconds",
	  .help = "",
	  .unit = "seconds",
	  .type = METRIC_HISTOGRAM,
	  .series_count = 2 * BUCKETS },
	{ .name = "z",
	  .help = "",
	  .unit = "",
	  .type = METRIC_GAUGE,
	  .first_series = 2 * BUCKETS,
	  .series_count = 1 },
};
static struct metric_series series[2 * BUCKETS + 1];
static const uint32_t listing[] = { 2, 1, 0, 5, 4, 3, 6 };
static struct metric_plan plan = {
	.families = families,
	.family_count = 2,
	.series = series,
	.series_count = 2 * BUCKETS + 1,
	.listing = listing,
};

static void make_series(void)
{
	size_t i;

	for (i = 0; i < 2 * BUCKETS; i++)
		series[i] = (struct metric_series){
			.name = "latency_seconds_bucket",
			.label_count = 2,
			.labels = bounds[i],
			.text = "",
		};
	series[i] = (struct metric_series){ .family = 1, .name = "z", .text = "" };
}

struct taken {
	struct message *message;
	unsigned int count;
};

static void take(void *data, struct message *message)
{
	struct taken *taken = data;

	free(taken->message);
	taken->message = message;
	taken->count++;
}

static char host[] = "h:1";

/* Encodes @scrapes rows of values, in the order of the series; points without a time are NAN. */
static struct taken encode(double (*values)[2 * BUCKETS + 1], unsigned int scrapes, uint64_t unsent)
{
	const struct target_settings target = { .name = host };
	struct label_set *labels = label_set__new(&target, NULL, NULL, &plan, NULL);
	struct block *block = block__new(&plan, labels);
	struct encoder encoder = { .format = &format_otlp, .batch = 1000, .lanes = 1 };
	struct taken taken = {};
	struct metric_point *row;
	unsigned int i, k;

	for (i = 0; i < scrapes; i++) {
		row = calloc(plan.series_count, sizeof(*row));
		for (k = 0; k < plan.series_count; k++) {
			memcpy(&row[k].value, &values[i][k], sizeof(double));
			row[k].time_ns = isnan(values[i][k]) &&
							 memcmp(&values[i][k],
								&(uint64_t){ FORMAT_STALE }, 8) ?
						 0 :
						 (i + 1) * SECOND;
		}
		block__add(block, row, plan.series_count);
	}
	encoder__add(&encoder, block, 0, take, &taken);
	encoder__finish(&encoder, take, &taken);
	assert_int_equal(encoder.unsent, unsent);
	encoder__free(&encoder);
	block__free(block);
	label_set__release(labels);
	return taken;
}

static double stale(void)
{
	static const uint64_t bits = FORMAT_STALE;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#define OF_HOST "resource{service.instance.id=h:1 service.name=dart host.name=h }\n"

static void test_histograms(void **state)
{
	double values[2][2 * BUCKETS + 1] = {
		{ 7, 3, 1, 0, 0, 0, 5 },
		{ 8, 3, 2, 1e15 + 1, 1e15, 0, 6 },
	};
	struct taken taken = encode(values, 2, 0);

	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.message->samples, 2 * plan.series_count);
	expect_message(taken.message,
		       OF_HOST "metric latency_seconds s 9\n"
			       "{disk=a } count=7 1 2 4 <=0.001 <=0.003 @1\n"
			       "{disk=a } count=8 2 1 5 <=0.001 <=0.003 @2\n"
			       "{disk=b } count=0 0 0 0 <=0.001 <=0.003 @1\n"
			       "{disk=b } count=1000000000000001 0 1000000000000000 1 "
			       "<=0.001 <=0.003 @2\n"
			       "metric z 5\n{} 5@1\n{} 6@2\n");
	free(taken.message);
}

/* The end of a histogram; and buckets that begin or end while it goes on. */
static void test_parts(void **state)
{
	const double end = stale();
	double values[][2 * BUCKETS + 1] = {
		{ end, end, end, 7, NAN, 1, NAN },
		{ NAN, NAN, NAN, 7, end, 1, NAN },
		{ NAN, 3, 1, end, 4, end, NAN },
	};
	struct taken taken;

	/* The end of one bucket; two without the last; one that goes on alone. */
	taken = encode(values, 3, 1 + 2 + 1);
	expect_message(taken.message, OF_HOST "metric latency_seconds s 9\n"
					      "{disk=a } flags=1 0 0 0 <=0.001 <=0.003 @1\n"
					      "{disk=b } count=7 1 6 <=0.001 @1\n"
					      "{disk=b } count=7 1 6 <=0.001 @2\n"
					      "{disk=b } flags=1 0 0 <=0.001 @3\n");
	assert_int_equal(taken.message->samples, 3 + 2 + 2 + 2);
	free(taken.message);
}

/* Values that are no cumulated counts, and bounds that are none. */
static void test_impossible(void **state)
{
	static const struct metric_label wrong[][2] = {
		{ { "disk", "a" }, { "le", "x" } },
		{ { "disk", "a" }, { "le", "" } },
		{ { "disk", "a" }, { "le", "0.001" } },
		{ { "disk", "a" }, { "le", "NaN" } },
	};
	double shrinking[][2 * BUCKETS + 1] = {
		{ 2, 3, 1, 5, 5, -1, 1 },
		{ 0x1p64, 3, 1, INFINITY, 5, 5, 2 },
	};
	double fine[][2 * BUCKETS + 1] = { { 3, 2, 1, NAN, NAN, NAN, 1 } };
	struct taken taken = encode(shrinking, 2, 4 * BUCKETS);
	size_t i;

	expect_message(taken.message, OF_HOST "metric z 5\n{} 1@1\n{} 2@2\n");
	free(taken.message);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		series[1].labels = wrong[i];
		taken = encode(fine, 1, BUCKETS);
		expect_message(taken.message, OF_HOST "metric z 5\n{} 1@1\n");
		free(taken.message);
	}
	make_series();
	/* The last bucket is not +Inf. */
	series[0].labels = wrong[2];
	taken = encode(fine, 1, BUCKETS);
	free(taken.message);
	make_series();
}

/* A message falls apart into series that are messages by themselves. */
static void test_pieces(void **state)
{
	double values[][2 * BUCKETS + 1] = {
		{ 7, 3, 1, 0, 0, 0, 5 },
		{ 8, 3, 2, 9, 4, 0, 6 },
	};
	struct taken taken = encode(values, 2, 0);
	struct message *first, *second;
	struct pieces pieces;

	assert_int_equal(pieces__open(taken.message, &pieces), 0);
	assert_int_equal(pieces.count, 3);
	assert_int_equal(pieces.host_count, 1);
	assert_string_equal(pieces.hosts->name, "h:1");
	assert_int_equal(pieces.hosts->samples, 2 * plan.series_count);
	assert_int_equal(pieces.series[1].samples, 2 * BUCKETS);
	assert_int_equal(pieces__split(&pieces, &first, &second), 0);
	expect_message(first, OF_HOST "metric latency_seconds s 9\n"
				      "{disk=a } count=7 1 2 4 <=0.001 <=0.003 @1\n"
				      "{disk=a } count=8 2 1 5 <=0.001 <=0.003 @2\n" OF_HOST
				      "metric z 5\n{} 5@1\n{} 6@2\n");
	expect_message(second, OF_HOST "metric latency_seconds s 9\n"
				       "{disk=b } count=0 0 0 0 <=0.001 <=0.003 @1\n"
				       "{disk=b } count=9 0 4 5 <=0.001 <=0.003 @2\n");
	assert_int_equal(first->samples + second->samples, taken.message->samples);
	pieces__clear(&pieces);
	free(first);
	free(second);
	free(taken.message);
}

/* A long resource that many short series share is not repeated without bound. */
static void test_bounded(void **state)
{
	static char text[1 << 20];
	struct merged_labels labels = {
		.count = 3,
		.labels = { { "__name__", "b" }, { "a", text }, { "a.b", text } },
	};
	const struct metric_point point = { .value = 1, .time_ns = SECOND };
	struct draft draft = {};
	struct message *message;
	struct pieces pieces;
	char value[16];
	int i;

	memset(text, 'x', sizeof(text) - 1);
	labels.labels[1].value = value;
	for (i = 0; i < 260; i++) {
		snprintf(value, sizeof(value), "%d", i);
		assert_int_equal(format_otlp.put(&draft, &labels, &gauge, &point, 1), 1);
	}
	assert_int_equal(message__pack(&format_otlp, i, draft.series.data, draft.series.length,
				       &message),
			 0);
	assert_int_equal(pieces__open(message, &pieces), -EINVAL);
	pieces__clear(&pieces);
	free(message);
	bytes__free(&draft.series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("adjacent series share a resource and a metric", test_grouped),
		TEST("the next message begins anew", test_next_draft),
		TEST("job, instance and names with a dot are attributes of the resource",
		     test_resource),
		TEST("each value is sent, and the end of a series", test_values),
		TEST("a histogram has bounds, counts and the sum of its counts", test_histograms),
		TEST("buckets come and go", test_parts),
		TEST("what is no histogram is counted, and costs nothing else", test_impossible),
		TEST("the series of a message are messages, and have the samples of all",
		     test_pieces),
		TEST("series are not repeated without bound", test_bounded),
	};

	make_series();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
