// SPDX-License-Identifier: GPL-2.0-only
/* Messages in pieces: of remote write 1.0 and 2.0, and lines for InfluxDB. */
#include <errno.h>

#include "push_decode.h"
#include "tools/controller/push/formats/formats.h"
#include "tools/controller/push/formats/pieces.h"

#define HOSTS 5
#define SERIES 7
#define POINTS 3

static const struct metric_family family = { .name = "f", .help = "help", .unit = "" };

struct metric_plan *metric_plan__get(struct metric_plan *held)
{
	return held;
}

void metric_plan__put(struct metric_plan *held)
{
}

/* @hosts hosts with @series series, of POINTS samples each. */
static struct message *make(const struct format *format, size_t hosts, size_t series)
{
	struct metric_point points[POINTS] = {
		{ .value = 1, .time_ns = 1000000 },
		{ .value = 2, .time_ns = 2000000 },
		{ .value = 3, .time_ns = 3000000 },
	};
	const uint32_t samples = hosts * series * POINTS;
	struct merged_labels labels = { .count = 3 };
	struct message *message = NULL;
	struct bytes whole = {};
	struct draft draft = {};
	char name[40], cpu[40];
	size_t i;

	for (i = 0; i < hosts * series; i++) {
		sprintf(name, "host %zu:1", i / series);
		sprintf(cpu, "c%zu", i % series);
		labels.labels[0] = (struct metric_label){ "__name__", "f" };
		labels.labels[1] = (struct metric_label){ "cpu", cpu };
		labels.labels[2] = (struct metric_label){ "instance", name };
		assert_int_equal(format->put(&draft, &labels, &family, points, POINTS), POINTS);
	}
	bytes__put(&whole, draft.symbols.fields.data, draft.symbols.fields.length);
	bytes__put(&whole, draft.series.data, draft.series.length);
	assert_int_equal(message__pack(format, samples, whole.data, whole.length, &message), 0);
	bytes__free(&whole);
	bytes__free(&draft.series);
	symbols__free(&draft.symbols);
	return message;
}

static const struct format *const forms[] = {
	&format_remote_write_1,
	&format_remote_write_2,
	&format_influx,
};

static void test_hosts(void **state)
{
	struct message *message;
	struct pieces pieces;
	size_t i, host;

	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		message = make(forms[i], HOSTS, SERIES);
		assert_int_equal(pieces__open(message, &pieces), 0);
		assert_int_equal(pieces.host_count, HOSTS);
		for (host = 0; host < HOSTS; host++)
			assert_int_equal(pieces.hosts[host].samples, SERIES * POINTS);
		assert_string_equal(pieces.hosts[3].name,
				    forms[i] == &format_influx ? "host\\ 3:1" : "host 3:1");
		pieces__clear(&pieces);
		free(message);
	}
}

/* How often each sample is in pieces that cannot be split. */
struct seen {
	unsigned int count[HOSTS][SERIES];
	unsigned int messages;
	uint64_t samples;
};

static void see(struct seen *seen, const struct message *message, const struct pieces *pieces)
{
	unsigned int host, cpu;
	char *text;

	seen->messages++;
	seen->samples += message->samples;
	if (message->format == &format_influx) {
		assert_int_equal(sscanf((char *)pieces->bytes.data,
					"f,cpu=c%u,instance=host\\ %u:1", &cpu, &host),
				 2);
		seen->count[host][cpu]++;
		return;
	}
	text = decode_compressed(message->format == &format_remote_write_2, message->body,
				 message->length);
	assert_int_equal(sscanf(strstr(text, "cpu="), "cpu=c%u instance=host %u", &cpu, &host), 2);
	seen->count[host][cpu] += POINTS;
	free(text);
}

/* Splits until nothing is left to split; a list in place of recursion. */
static void split_all(struct message *message, struct seen *seen)
{
	struct message *list = message, *first, *second;
	struct pieces pieces;

	message->next = NULL;
	while ((message = list)) {
		list = message->next;
		assert_int_equal(pieces__open(message, &pieces), 0);
		if (!pieces__are_several(&pieces)) {
			assert_int_equal(pieces__split(&pieces, &first, &second), -EINVAL);
			see(seen, message, &pieces);
		} else {
			assert_int_equal(pieces__split(&pieces, &first, &second), 0);
			assert_int_equal(first->samples + second->samples, message->samples);
			assert_true(first->samples && second->samples);
			first->next = second;
			second->next = list;
			list = first;
		}
		pieces__clear(&pieces);
		free(message);
	}
}

static void test_split(void **state)
{
	size_t i, host, cpu;
	struct seen seen;

	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		seen = (struct seen){};
		split_all(make(forms[i], HOSTS, SERIES), &seen);
		for (host = 0; host < HOSTS; host++) {
			for (cpu = 0; cpu < SERIES; cpu++)
				assert_int_equal(seen.count[host][cpu], POINTS);
		}
		assert_int_equal(seen.samples, HOSTS * SERIES * POINTS);
		/* With InfluxDB each line is one point. */
		assert_int_equal(seen.messages,
				 HOSTS * SERIES * (forms[i] == &format_influx ? POINTS : 1));
	}
}

/* The sum that says which series is apart is the encoder's. */
static void test_hash(void **state)
{
	struct merged_labels labels = {
		.count = 3,
		.labels = { { "__name__", "f" },
			    { "cpu", "c0" },
			    { "instance", "host 0:1" } },
	};
	struct message *message;
	struct pieces pieces;
	size_t i;

	for (i = 0; i < 2; i++) {
		message = make(forms[i], 1, 1);
		assert_int_equal(pieces__open(message, &pieces), 0);
		assert_true(pieces.series->hash == pieces__hash(&labels));
		pieces__clear(&pieces);
		free(message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the samples of each host are known", test_hosts),
		TEST("pieces have each series once, down to one series", test_split),
		TEST("a series has the same sum as in the encoder", test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
