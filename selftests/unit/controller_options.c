// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <libdart/error.h>

#include "tools/controller/options.h"

#define ARGUMENTS_MAX 16

static struct options options;
static struct dart_error error;

/* Arguments as in a shell, separated by blanks; @line must outlive options. */
static int parse(char *line)
{
	char *argv[ARGUMENTS_MAX] = { "dart-controller" };
	int argc = 1;
	char *word;

	while ((word = strsep(&line, " ")))
		argv[argc++] = word;
	return options__parse(&options, argc, argv, &error);
}

static int clear_options(void **state)
{
	(void)state;
	options__clear(&options);
	return 0;
}

static void agents_have_a_host_and_a_port(void **state)
{
	char line[] = "a b:17 ::1 [::1]:99 [2001:db8::2]";
	const struct target_settings *agents;

	(void)state;
	assert_int_equal(parse(line), 0);
	agents = options.settings.targets;
	assert_int_equal(options.settings.target_count, 5);
	assert_string_equal(agents[0].host, "a");
	assert_int_equal(agents[0].port, 4792);
	assert_string_equal(agents[0].name, "a:4792");
	assert_string_equal(agents[1].host, "b");
	assert_int_equal(agents[1].port, 17);
	assert_string_equal(agents[2].host, "::1");
	assert_string_equal(agents[2].name, "[::1]:4792");
	assert_string_equal(agents[3].host, "::1");
	assert_int_equal(agents[3].port, 99);
	assert_string_equal(agents[4].host, "2001:db8::2");
}

static void all_options_are_taken(void **state)
{
	char line[] = "-i 250us -n 7 -j -c file -e x,y h";

	(void)state;
	assert_int_equal(parse(line), 0);
	assert_int_equal(options.action, OPTIONS_RUN);
	assert_int_equal(options.settings.interval_ns, 250000);
	assert_int_equal(options.count, 7);
	assert_true(options.json);
	assert_false(options.once);
	assert_string_equal(options.config, "file");
	assert_int_equal(options.settings.entry_count, 2);
	assert_string_equal(options.settings.entries[0], "x");
	assert_string_equal(options.settings.entries[1], "y");
}

static void long_options_are_the_same(void **state)
{
	char line[] = "h --interval=1min --entries x --entries=y --json --once";

	(void)state;
	assert_int_equal(parse(line), 0);
	assert_int_equal(options.settings.interval_ns, 60000000000);
	assert_int_equal(options.settings.entry_count, 2);
	assert_int_equal(options.count, 0);
	assert_true(options.json);
	assert_true(options.once);
}

static void help_and_version_need_no_agent(void **state)
{
	char help[] = "-h", version[] = "-V";
	char long_help[] = "--help", long_version[] = "--version";

	(void)state;
	assert_int_equal(parse(help), 0);
	assert_int_equal(options.action, OPTIONS_HELP);
	assert_int_equal(parse(version), 0);
	assert_int_equal(options.action, OPTIONS_VERSION);
	assert_int_equal(parse(long_help), 0);
	assert_int_equal(options.action, OPTIONS_HELP);
	assert_int_equal(parse(long_version), 0);
	assert_int_equal(options.action, OPTIONS_VERSION);
}

static void what_is_wrong_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *line, *error;
	} wrong[] = {
		{ "-j", "no agent" },
		{ "h -i 0s", "'0s' is not an interval" },
		{ "h -i 100", "'100' is not an interval" },
		{ "h -i 99us", "'99us' is not an interval" },
		{ "h -i 61min", "'61min' is not an interval" },
		{ "h -i -1s", "'-1s' is not an interval" },
		{ "h -i 1.5s", "'1.5s' is not an interval" },
		{ "h -i 99999999999999999999s", "is not an interval" },
		{ "h -i 18446744073709551617us", "is not an interval" },
		{ "h -n 0", "'0' is not a count" },
		{ "h -n -1", "'-1' is not a count" },
		{ "h -n 1x", "'1x' is not a count" },
		{ "h -n 99999999999999999999", "is not a count" },
		{ "h -e x,", "'' is not an entry" },
		{ "h -e x,x", "'x' is named twice" },
		{ "h -n 2 --once", "mutually exclusive" },
		{ "h --interval", "'--interval' requires a value" },
		{ "h --unknown", "unknown option '--unknown'" },
		{ "h --once=x", "unknown option '--once=x'" },
		{ "-xj h", "unknown option '-x'" },
		{ "h h", "'h' is named twice" },
		{ "h h:4792", "'h:4792' is named twice" },
		{ ":17", "':17' is not an agent" },
		{ "h:", "'h:' is not an agent" },
		{ "h:0", "'h:0' is not an agent" },
		{ "h:65536", "'h:65536' is not an agent" },
		{ "h:99999999999999999999", "is not an agent" },
		{ "h:x", "'h:x' is not an agent" },
		{ "[::1", "'[::1' is not an agent" },
		{ "[::1]17", "'[::1]17' is not an agent" },
		{ "[]:17", "'[]:17' is not an agent" },
	};
	char line[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(line, sizeof(line), "%s", wrong[i].line);
		assert_int_equal(parse(line), -EINVAL);
		if (!strstr(error.text, wrong[i].error))
			fail_msg("%s: %s", wrong[i].line, error.text);
		options__clear(&options);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(agents_have_a_host_and_a_port,
					  clear_options),
		cmocka_unit_test_teardown(all_options_are_taken,
					  clear_options),
		cmocka_unit_test_teardown(long_options_are_the_same,
					  clear_options),
		cmocka_unit_test_teardown(help_and_version_need_no_agent,
					  clear_options),
		cmocka_unit_test(what_is_wrong_is_refused_with_a_reason),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("controller_options", tests, NULL,
					   NULL);
}
