// SPDX-License-Identifier: GPL-2.0-only
/* The command line of dart-report. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/report/options.h"

#define WORDS_MAX 32

/* Parses a line of words with single spaces between them. */
static int parse(struct options *options, const char *line, struct dart_error *error)
{
	static char copy[400];
	char *argv[WORDS_MAX + 1], *rest = copy;
	int argc = 0;

	snprintf(copy, sizeof(copy), "dart-report %s", line);
	while ((argv[argc] = strsep(&rest, " ")))
		assert_true(++argc < WORDS_MAX);
	return options__parse(options, argc, argv, error);
}

static void test_defaults(void **state)
{
	struct options options;
	struct dart_error error;

	assert_int_equal(parse(&options, "-i eth0 -c a -f zipf", &error), 0);
	assert_int_equal(options.action, 0);
	assert_string_equal(options.interface, "eth0");
	assert_int_equal(options.collector_files, 1);
	assert_string_equal(options.collectors[0], "a");
	assert_null(options.pcap);
	assert_int_equal(options.flows.kind, DART_FLOWS_ZIPF);
	assert_int_equal(options.flows.count, 1000);
	assert_int_equal(options.flows.seed, 0);
	assert_true(options.flows.skew == 1);
	assert_int_equal(options.packets, 0);
	assert_int_equal(options.rate, 10000);
	assert_int_equal(options.int_port, 5000);
	assert_int_equal(options.postcard_port, 0);
	assert_int_equal(options.rows_log2, 15);
	assert_int_equal(options.age_ns, 1000000000);
	assert_false(options.all_copies);
	assert_false(options.emit_int);
	assert_false(options.json);
	options__clear(&options);
}

static void test_all(void **state)
{
	struct options options;
	struct dart_error error;

	assert_int_equal(parse(&options,
			       "-j -i e -c a -c b -f fat-tree "
			       "-n 5 --packets=7 --seed=9 --ports=4 --rate=0 "
			       "--copies=all --source=10.0.0.9",
			       &error),
			 0);
	assert_int_equal(options.collector_files, 2);
	assert_string_equal(options.collectors[1], "b");
	assert_int_equal(options.flows.count, 5);
	assert_int_equal(options.packets, 7);
	assert_int_equal(options.flows.seed, 9);
	assert_int_equal(options.flows.k, 4);
	assert_int_equal(options.rate, 0);
	assert_true(options.all_copies);
	assert_true(options.json);
	assert_int_equal(ntohl(options.source.s_addr), 0x0a000009);
	options__clear(&options);
	assert_int_equal(parse(&options,
			       "-i e -f uniform --emit int "
			       "--int-port 9 --skew 1.5",
			       &error),
			 0);
	assert_true(options.emit_int);
	assert_int_equal(options.int_port, 9);
	options__clear(&options);
	assert_int_equal(parse(&options, "-i e -c a -p b", &error), 0);
	assert_string_equal(options.pcap, "b");
	options__clear(&options);
	assert_int_equal(parse(&options, "-i e -c a -p b --postcards 5001 --rows 2^3 --age 20ms",
			       &error),
			 0);
	assert_int_equal(options.postcard_port, 5001);
	assert_int_equal(options.rows_log2, 3);
	assert_int_equal(options.age_ns, 20000000);
	options__clear(&options);
	assert_int_equal(parse(&options, "-i e --journal a -f zipf", &error), 0);
	assert_string_equal(options.journal, "a");
	assert_int_equal(parse(&options, "-i e --ledger a -f zipf --follow --cache 4096", &error),
			 0);
	assert_string_equal(options.ledger, "a");
	assert_int_equal(options.cache, 4096);
	options__clear(&options);
	assert_int_equal(parse(&options, "-i e --sketch a --live b --follow", &error), 0);
	assert_string_equal(options.sketch, "a");
	options__clear(&options);
	assert_int_equal(parse(&options, "--help", &error), 0);
	assert_int_equal(options.action, 'h');
	assert_int_equal(parse(&options, "--version", &error), 0);
	assert_int_equal(options.action, 'V');
	assert_int_equal(parse(&options, "-h", &error), 0);
	assert_int_equal(options.action, 'h');
	assert_int_equal(parse(&options, "-V", &error), 0);
	assert_int_equal(options.action, 'V');
}

static void test_refused(void **state)
{
	static const char *const lines[][2] = {
		{ "-c a -f zipf", "no interface" },
		{ "-i e -c a", "either --flows" },
		{ "-i e -c a -f zipf -p b", "either --flows" },
		{ "-i e --ledger a -f zipf --live b", "either --flows" },
		{ "-i e --journal a --live b", "--live needs --ledger" },
		{ "-i e -f zipf", "no collector" },
		{ "-i e -f zipf -c a --emit int", "--emit int" },
		{ "-i e -f zipf -c a --journal b", "mutually exclusive" },
		{ "-i e -f zipf --journal b --emit int", "mutually exclusive" },
		{ "-i e -f zipf --journal b --follow", "--follow needs" },
		{ "-i e -f zipf --journal b --ledger c", "mutually exclusive" },
		{ "-i e -f zipf --sketch b --ledger c", "mutually exclusive" },
		{ "-i e -f zipf --ledger b --cache 3", "not a power of two" },
		{ "-i e -f zipf --ledger b --cache 0", "is not a size of a cache" },
		{ "-i e -p a --emit int", "--emit int" },
		{ "-i e -c a -f zipf --postcards 1", "--postcards needs" },
		{ "-i e -p a --journal b --postcards 1", "--postcards needs" },
		{ "-i e -c a -p b --postcards 0", "is not a port" },
		{ "-i e -c a -p b --postcards 1 --rows 3", "not a power of two" },
		{ "-i e -c a -p b --postcards 1 --age 1", "is not an age" },
		{ "-i e -c a -f tree", "'tree'" },
		{ "-i e -c a -f fat-tree --ports 3", "even" },
		{ "-i e -c a -f fat-tree --ports 2 -n 200000", "at most" },
		{ "-i e -c a -f zipf -n 0", "'0'" },
		{ "-i e -c a -f zipf -n 5x", "'5x'" },
		{ "-i e -c a -f zipf -n -5", "'-5'" },
		{ "-i e -c a -f zipf --skew nan", "'nan'" },
		{ "-i e -c a -f zipf --skew 1e9", "'1e9'" },
		{ "-i e -c a -f zipf --int-port 65536", "'65536'" },
		{ "-i e -c a -f zipf --source 10.0", "'10.0'" },
		{ "-i e -c a -f zipf --copies some", "'some'" },
		{ "-i e -c a -f zipf --rate", "requires a value" },
		{ "-i e -c a -f zipf more", "'more'" },
		{ "-i e -c a -f zipf --unknown", "'--unknown'" },
	};
	struct options options;
	struct dart_error error;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_int_equal(parse(&options, lines[i][0], &error), -EINVAL);
		if (!strstr(error.text, lines[i][1]))
			fail_msg("%s: %s", lines[i][0], error.text);
		options__clear(&options);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("options that are not given have their documented defaults", test_defaults),
		TEST("every option sets its setting, in the short and the long form", test_all),
		TEST("each mistake on the command line is refused with the word that is wrong",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
