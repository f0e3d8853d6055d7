// SPDX-License-Identifier: GPL-2.0-only
/* All rows of the table of formats: each keeps the promises of format.h, and has an example here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/push/formats/formats.h"
#include "tools/controller/push/formats/pieces.h"
#include "tools/controller/settings/output_settings.h"

#define HOSTS 2
#define SERIES 3
#define POINTS 2
#define SAMPLES (HOSTS * SERIES * POINTS)

static const struct metric_family family = {
	.name = "up",
	.help = "help",
	.unit = "seconds",
	.type = METRIC_COUNTER,
};

struct metric_plan *metric_plan__get(struct metric_plan *held)
{
	return held;
}

void metric_plan__put(struct metric_plan *held)
{
}

/* The body of up{instance="h:1"} 1 at 1 s, unpacked. */
static const struct example {
	const struct format *format;
	const char *body;
	size_t length;
} examples[] = {
#define EXAMPLE(row, text) { &format_##row, text, sizeof(text) - 1 }
	EXAMPLE(remote_write_1, "\x0a\x2f"
				"\x0a\x0e\x0a\x08__name__\x12\x02up"
				"\x0a\x0f\x0a\x08instance\x12\x03h:1"
				"\x12\x0c\x09\0\0\0\0\0\0\xf0\x3f\x10\xe8\x07"),
	EXAMPLE(remote_write_2, "\x22\0\x22\x08__name__\x22\x02up\x22\x08instance\x22\x03h:1"
				"\x22\x04help\x22\x07seconds"
				"\x2a\x1c\x0a\x04\x01\x02\x03\x04"
				"\x12\x0c\x09\0\0\0\0\0\0\xf0\x3f\x10\xe8\x07"
				"\x2a\x06\x08\x01\x18\x05\x20\x06"),
	EXAMPLE(influx, "up,instance=h:1 value=1 1000000000\n"),
	EXAMPLE(otlp, "\x0a\x9d\x81\x80\0"
		      "\x0a\xb0\x80\x80\0"
		      "\x0a\x1c\x0a\x13service.instance.id\x12\x05\x0a\x03h:1"
		      "\x0a\x10\x0a\x09host.name\x12\x03\x0a\x01h"
		      "\x12\xe3\x80\x80\0"
		      "\x0a\x91\x80\x80\0\x0a\x0f""dart-controller"
		      "\x12\xc8\x80\x80\0\x0a\x02up\x12\x04help\x1a\x01s"
		      "\x62\x1c\x0a\x0fprometheus.type\x12\x09\x0a\x07""counter"
		      "\x3a\x98\x80\x80\0\x10\x02\x18\x01"
		      "\x0a\x12\x19\0\xca\x9a\x3b\0\0\0\0\x21\0\0\0\0\0\0\xf0\x3f"),
};

static const struct example *example_of(const struct format *format)
{
	size_t i;

	for (i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		if (examples[i].format == format)
			return examples + i;
	}
	fail_msg("the format %s %u has no example in push_formats.c", format->name,
		 format->version);
	return NULL;
}

static struct message *pack(const struct format *format, struct draft *draft, uint32_t samples)
{
	struct bytes whole = {};
	struct message *message;

	bytes__put(&whole, draft->symbols.fields.data, draft->symbols.fields.length);
	bytes__put(&whole, draft->series.data, draft->series.length);
	assert_int_equal(message__pack(format, samples, whole.data, whole.length, &message), 0);
	bytes__free(&whole);
	bytes__free(&draft->series);
	symbols__free(&draft->symbols);
	return message;
}

static void test_facts(void **state)
{
	const struct format *const *format;
	struct receiver_settings settings;
	const char *const *header;
	bool has_type;

	for (format = formats; *format; format++) {
		assert_non_null(output_settings__format((*format)->name));
		settings = (struct receiver_settings){
			.format = output_settings__format((*format)->name),
			.version = (*format)->version,
		};
		assert_ptr_equal(format__of(&settings), *format);
		assert_in_range((*format)->number, 1, UINT8_MAX);
		assert_ptr_equal(format__numbered((*format)->number), *format);
		assert_true((*format)->precision_ns >= 1);
		assert_true(!(*format)->older == !(*format)->convert);
		assert_true(!(*format)->older || (*format)->older->version < (*format)->version);
		has_type = false;
		for (header = (*format)->headers; *header; header++) {
			assert_non_null(strstr(*header, ": "));
			has_type |= !strncmp(*header, "Content-Type: ", 14);
		}
		assert_true(has_type);
	}
	assert_null(format__numbered(0));
}

static void test_examples(void **state)
{
	const struct metric_point point = { .value = 1, .time_ns = 1000000000 };
	const struct merged_labels labels = {
		.count = 2,
		.labels = { { "__name__", "up" }, { "instance", "h:1" } },
	};
	const struct format *const *format;
	const struct example *example;
	struct message *message;
	struct pieces pieces;
	struct draft draft;

	for (format = formats; *format; format++) {
		example = example_of(*format);
		draft = (struct draft){};
		assert_int_equal((*format)->put(&draft, &labels, &family, &point, 1), 1);
		message = pack(*format, &draft, 1);
		assert_int_equal(pieces__open(message, &pieces), 0);
		assert_int_equal(pieces.bytes.length, example->length);
		assert_memory_equal(pieces.bytes.data, example->body, example->length);
		assert_int_equal(pieces.count, 1);
		assert_string_equal(pieces.hosts->name, "h:1");
		pieces__clear(&pieces);
		free(message);
	}
}

/* HOSTS hosts with SERIES series, of POINTS samples each. */
static struct message *make(const struct format *format)
{
	const struct metric_point points[POINTS] = {
		{ .value = 1, .time_ns = 1000000 },
		{ .value = 2, .time_ns = 2000000 },
	};
	struct merged_labels labels = { .count = 3 };
	struct draft draft = {};
	char host[16], cpu[16];
	size_t i;

	for (i = 0; i < HOSTS * SERIES; i++) {
		sprintf(host, "h%zu:1", i / SERIES);
		sprintf(cpu, "%zu", i % SERIES);
		labels.labels[0] = (struct metric_label){ "__name__", "f" };
		labels.labels[1] = (struct metric_label){ "cpu", cpu };
		labels.labels[2] = (struct metric_label){ "instance", host };
		assert_int_equal(format->put(&draft, &labels, &family, points, POINTS), POINTS);
	}
	return pack(format, &draft, SAMPLES);
}

/* All series of a message are found again, and its halves have each of them once. */
static void test_pieces(void **state)
{
	struct message *message, *first, *second;
	const struct format *const *format;
	struct pieces pieces;

	for (format = formats; *format; format++) {
		message = make(*format);
		assert_int_equal(pieces__open(message, &pieces), 0);
		assert_int_equal(pieces.host_count, HOSTS);
		assert_int_equal(pieces.hosts[1].samples, SERIES * POINTS);
		assert_int_equal(pieces__split(&pieces, &first, &second), 0);
		assert_int_equal(first->samples, SAMPLES / 2);
		assert_int_equal(second->samples, SAMPLES / 2);
		pieces__clear(&pieces);
		assert_int_equal(pieces__open(second, &pieces), 0);
		assert_int_equal(pieces.host_count, 1);
		assert_string_equal(pieces.hosts->name, "h1:1");
		pieces__clear(&pieces);
		free(first);
		free(second);
		free(message);
	}
}

/* Frees @message after splitting it, if that is possible. */
static void split(struct message *message)
{
	struct message *first, *second;
	struct pieces pieces;

	if (!pieces__open(message, &pieces) && !pieces__split(&pieces, &first, &second)) {
		free(first);
		free(second);
	}
	pieces__clear(&pieces);
	free(message);
}

/* Each prefix of a body, and each with a byte changed, is refused or split; so is no body at all. */
static void test_hostile(void **state)
{
	const struct format *const *format;
	struct message *whole, *message;
	struct pieces pieces;
	size_t i, at, length;
	uint8_t *bytes;

	for (format = formats; *format; format++) {
		whole = make(*format);
		assert_int_equal(pieces__open(whole, &pieces), 0);
		length = pieces.bytes.length;
		bytes = malloc(length);
		memcpy(bytes, pieces.bytes.data, length);
		pieces__clear(&pieces);
		for (at = 0; at < 2 * length; at++) {
			if (at >= length)
				bytes[at - length] ^= 0x55;
			assert_int_equal(message__pack(*format, 12, bytes,
						       at < length ? at : length, &message),
					 0);
			split(message);
			if (at >= length)
				bytes[at - length] ^= 0x55;
		}
		for (i = 0; i < whole->length; i++) {
			message = message__new(*format, 1, whole->body, i);
			assert_non_null(message);
			split(message);
		}
		message = message__new(*format, 1, "\x1f\x8b", 2);
		assert_int_equal(pieces__open(message, &pieces), -EINVAL);
		pieces__clear(&pieces);
		free(message);
		free(bytes);
		free(whole);
	}
}

static enum verdict judge(const struct format *format, long status, uint64_t written)
{
	const struct answer answer = {
		.is_one = status,
		.status = status,
		.has_written = true,
		.written = written,
	};

	return format->judge ? format->judge(&answer, true) : answer__judge(&answer);
}

/* Answers that no format may take for something else: samples would be lost, or come for ever. */
static void test_answers(void **state)
{
	const struct format *const *format;

	for (format = formats; *format; format++) {
		assert_int_equal(judge(*format, 0, 0), VERDICT_AGAIN);
		assert_int_equal(judge(*format, 429, 0), VERDICT_AGAIN);
		assert_int_equal(judge(*format, 503, 0), VERDICT_AGAIN);
		assert_int_equal(judge(*format, 204, 1), VERDICT_DONE);
		assert_int_equal(judge(*format, 404, 0), VERDICT_REFUSED);
		assert_int_equal(judge(*format, 413, 0), VERDICT_SMALLER);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("each row has a name of the settings, a number and heads of its own",
		     test_facts),
		TEST("each row has an example, and its bytes are those of the example",
		     test_examples),
		TEST("each row finds its series again, and parts them", test_pieces),
		TEST("messages that are none are refused", test_hostile),
		TEST("no row takes a failure for success, nor a refusal for a failure",
		     test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
