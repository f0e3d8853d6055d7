// SPDX-License-Identifier: GPL-2.0-only
/* Outputs that push, in the configuration file. */
#include <stdio.h>
#include <string.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/controller/settings/config.h"

#define PUSH "outputs:\n  - remote_write: http://h:9090/api/v1/write\n    "

static struct settings settings;
static struct dart_error error;

static int load(const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	int err;

	assert_non_null(file);
	err = config__load(&settings, file, "f", &error);
	fclose(file);
	return err;
}

static int clear_settings(void **state)
{
	settings__clear(&settings);
	return 0;
}

static void test_all_keys(void **state)
{
	const struct receiver_settings *receiver;

	assert_int_equal(load(PUSH "version: 1\n"
				   "    batch: 500\n"
				   "    delay: 250ms\n"
				   "    timeout: 1min\n"
				   "    queue_bytes: 8M\n"
				   "    spool: /s\n"
				   "    spool_bytes: 2G\n"
				   "    spool_sync: 5s\n"
				   "    senders: 3\n"
				   "    every: 10s\n"
				   "    gauges: mean\n"
				   "    samples_per_second: 100000\n"
				   "    agent_samples_per_second: 3000\n"
				   "    user: u\n"
				   "    password_file: /p\n"
				   "    authorities: /a\n"
				   "    certificate: /c\n"
				   "    key: /k\n"
				   "    headers: {X-Scope-OrgID: n}\n"
				   "    labels: {site: north}\n"
				   "    write_relabel_configs:\n"
				   "      - {source_labels: [mode], regex: idle, action: drop}\n"
				   "  - influx: https://i:8086\n"
				   "    bucket: b\n"
				   "    organization: o\n"
				   "    token_file: /t\n"
				   "  - remote_write: https://j/\n"
				   "    sigv4: {region: r, service: s, access_key: k, secret_key_file: /f}\n"),
			 0);
	assert_int_equal(settings.outputs.receiver_count, 3);
	receiver = settings.outputs.receivers;
	assert_string_equal(receiver->format, "remote_write");
	assert_string_equal(receiver->url, "http://h:9090/api/v1/write");
	assert_int_equal(receiver->version, 1);
	assert_int_equal(receiver->batch, 500);
	assert_int_equal(receiver->delay_ns, 250000000);
	assert_int_equal(receiver->timeout_ns, 60000000000);
	assert_int_equal(receiver->queue_bytes, 8 << 20);
	assert_string_equal(receiver->spool, "/s");
	assert_int_equal(receiver->spool_bytes, 2ULL << 30);
	assert_int_equal(receiver->spool_sync_ns, 5000000000);
	assert_int_equal(receiver->senders, 3);
	assert_int_equal(receiver->every_ns, 10000000000);
	assert_int_equal(receiver->gauges, RECEIVER_GAUGES_MEAN);
	assert_int_equal(receiver->samples_per_second, 100000);
	assert_int_equal(receiver->agent_samples_per_second, 3000);
	assert_string_equal(receiver->user, "u");
	assert_string_equal(receiver->password_file, "/p");
	assert_string_equal(receiver->authorities, "/a");
	assert_string_equal(receiver->certificate, "/c");
	assert_string_equal(receiver->key, "/k");
	assert_string_equal(json_string_value(json_object_get(receiver->headers, "X-Scope-OrgID")),
			    "n");
	assert_string_equal(json_string_value(json_object_get(receiver->labels, "site")), "north");
	assert_false(relabel_rules__is_empty(receiver->write_relabel));
	receiver++;
	assert_true(relabel_rules__is_empty(receiver->write_relabel));
	assert_string_equal(receiver->format, "influx");
	assert_string_equal(receiver->bucket, "b");
	assert_string_equal(receiver->organization, "o");
	assert_string_equal(receiver->token_file, "/t");
	receiver++;
	assert_string_equal(receiver->sigv4.region, "r");
	assert_string_equal(receiver->sigv4.service, "s");
	assert_string_equal(receiver->sigv4.access_key, "k");
	assert_string_equal(receiver->sigv4.secret_key_file, "/f");
}

static void test_delay(void **state)
{
	static const struct {
		const char *text;
		uint64_t delay_ns;
	} delays[] = {
		{ PUSH "version: 2\n", RECEIVER_DELAY_DEFAULT_NS },
		{ PUSH "delay: 0s\n", RECEIVER_DELAY_NONE },
		{ PUSH "delay: 0ms\n", RECEIVER_DELAY_NONE },
		{ PUSH "delay: 1ms\n", 1000000 },
		{ PUSH "delay: 1min\n", RECEIVER_DELAY_MAX_NS },
	};
	struct receiver_settings *receiver;
	size_t i;

	for (i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		assert_int_equal(load(delays[i].text), 0);
		receiver = settings.outputs.receivers;
		assert_int_equal(receiver_settings__complete(receiver, &error), 0);
		assert_int_equal(receiver->delay_ns, delays[i].delay_ns);
		settings__clear(&settings);
	}
}

static void test_sync(void **state)
{
	static const struct {
		const char *text;
		uint64_t sync_ns;
	} times[] = {
		{ PUSH "spool: s\n", RECEIVER_SYNC_DEFAULT_NS },
		{ PUSH "spool: s\n    spool_sync: never\n", RECEIVER_SYNC_NEVER },
		{ PUSH "spool: s\n    spool_sync: always\n", RECEIVER_SYNC_ALWAYS },
		{ PUSH "spool: s\n    spool_sync: 10min\n", RECEIVER_SYNC_MAX_NS },
		{ PUSH "version: 1\n", 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_int_equal(load(times[i].text), 0);
		assert_int_equal(settings.outputs.receivers[0].spool_sync_ns, times[i].sync_ns);
		settings__clear(&settings);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{ PUSH "delay: 0\n", "f:3: '0' is not a time in bounds" },
		{ PUSH "delay: 61s\n", "f:3: '61s' is not a time in bounds" },
		{ PUSH "delay: -1s\n", "f:3: '-1s' is not a time in bounds" },
		{ PUSH "timeout: 0s\n", "f:3: '0s' is not a time in bounds" },
		{ PUSH "batch: 0\n", "f:3: '0' is not a number from 1 to" },
		{ PUSH "version: 3\n", "f:3: '3' is not a number from 1 to 2" },
		{ PUSH "queue_bytes: 1K\n", "f:3: '1K' is not a number of bytes in bounds" },
		{ PUSH "spool_bytes: 1G\n", "f:2: spool_bytes need a spool" },
		{ PUSH "spool_sync: 1s\n", "f:2: spool_sync needs a spool" },
		{ PUSH "spool: s\n    spool_sync: 1ms\n",
		  "f:4: '1ms' is neither always, never nor a time in bounds" },
		{ PUSH "spool: s\n    spool_sync: no\n",
		  "f:4: 'no' is neither always, never nor a time in bounds" },
		{ PUSH "senders: 0\n", "f:3: '0' is not a number from 1 to 16" },
		{ PUSH "every: 10ms\n", "f:3: '10ms' is not a time in bounds" },
		{ PUSH "gauges: mean\n", "f:2: gauges need every" },
		{ PUSH "every: 1s\n    gauges: median\n", "f:4: 'median' is not a value of gauges" },
		{ PUSH "samples_per_second: 0\n",
		  "f:3: '0' is not a number from 1 to 1000000000" },
		{ PUSH "senders: 17\n", "f:3: '17' is not a number from 1 to 16" },
		{ PUSH "spool: ''\n", "f:3: expected a text" },
		{ PUSH "labels: {\"a\\tb\": c}\n", "f:3: " },
		{ PUSH "write_relabel_configs: [{action: hashmod}]\n",
		  "f:3: action hashmod needs a 'modulus' above 0" },
		{ "outputs: [{listen: ':80', write_relabel_configs: []}]\n",
		  "f:1: an output is one of listen, web, remote_write" },
		{ PUSH "influx: http://h\n",
		  "f:3: an output has either remote_write or influx, not both" },
		{ PUSH "listen: :80\n",
		  "f:2: an output is one of listen, web, remote_write" },
		{ "outputs: [{remote_write: 'h:9090'}]\n", "f:1: 'h:9090' is not a URL" },
		{ "outputs: [{influx: []}]\n", "f:1: expected a URL" },
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_true(load(wrong[i].text) < 0);
		if (strncmp(error.text, wrong[i].error, strlen(wrong[i].error)))
			fail_msg("%s: %s", wrong[i].text, error.text);
		settings__clear(&settings);
	}
}

/* A reload replaces rules, so outputs that differ in nothing else are equal. */
static void test_copies(void **state)
{
	struct receiver_settings copy, *receiver;
	struct relabel_rules *rules;

	assert_int_equal(load(PUSH "write_relabel_configs: [{regex: a, action: labeldrop}]\n"), 0);
	receiver = settings.outputs.receivers;
	assert_int_equal(receiver_settings__copy(&copy, receiver), 0);
	assert_ptr_equal(copy.write_relabel, receiver->write_relabel);
	rules = copy.write_relabel;
	copy.write_relabel = NULL;
	assert_true(receiver_settings__equal(&copy, receiver));
	copy.batch++;
	assert_false(receiver_settings__equal(&copy, receiver));
	receiver_settings__clear(&copy);
	relabel_rules__release(rules);
}

/* The sentence that lists the outputs is made of the table of keys. */
static void test_kinds(void **state)
{
	static const char *const kinds[] = { "listen", "web", "remote_write", "influx", "otlp" };
	size_t i;

	assert_true(load(PUSH "listen: :80\n") < 0);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_non_null(strstr(error.text, kinds[i]));
	assert_non_null(strstr(error.text, " and "));
	assert_non_null(strstr(error.text, "; listen and web may have token_file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("an output that pushes has all of its keys",
			     test_all_keys, NULL, clear_settings),
		TEST_FIXTURE("a delay may be none, up to a minute, or not said",
			     test_delay, NULL, clear_settings),
		TEST_FIXTURE("a spool is forced to the disk always, never or in a time",
			     test_sync, NULL, clear_settings),
		TEST_FIXTURE("what cannot be is refused, with the line",
			     test_refused, NULL, clear_settings),
		TEST_FIXTURE("outputs are compared without their rules for series",
			     test_copies, NULL, clear_settings),
		TEST_FIXTURE("an output of two kinds is refused with the names of all kinds",
			     test_kinds, NULL, clear_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
