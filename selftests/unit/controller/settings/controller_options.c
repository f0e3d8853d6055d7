// SPDX-License-Identifier: GPL-2.0-only
/* The command line of dart-controller. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/controller/settings/options.h"

#define ARGUMENTS_MAX 16

static struct options options;
static struct dart_error error;

/* Splits @line, which must outlive options, at blanks as a shell does. */
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
	settings__clear(&options.settings);
	return 0;
}

static void test_agents(void **state)
{
	char line[] = "a b:17 ::1 [::1]:99 [2001:db8::2]";
	const struct target_settings *agents;

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

static void test_short_options(void **state)
{
	char line[] = "-i 250us -n 7 -j -c file -e x,y h";

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

static void test_long_options(void **state)
{
	char line[] = "h --interval=1min --entries x --entries=y --json --once --workers 64 --io=hybrid --clock-bound 1s";

	assert_int_equal(parse(line), 0);
	assert_int_equal(options.settings.interval_ns, 60000000000);
	assert_int_equal(options.settings.workers, 64);
	assert_int_equal(options.settings.clock_bound_ns, 1000000000);
	assert_int_equal(options.settings.io, SETTINGS_IO_HYBRID);
	assert_int_equal(options.settings.entry_count, 2);
	assert_int_equal(options.count, 0);
	assert_true(options.json);
	assert_true(options.once);
}

static void test_flow(void **state)
{
	char line[] = "h --flow credit,16K", again[] = "h --flow=bdp,1G --flow none";

	assert_int_equal(parse(line), 0);
	assert_int_equal(options.settings.flow, SETTINGS_FLOW_CREDIT);
	assert_int_equal(options.settings.flow_bytes, 16384);
	settings__clear(&options.settings);
	assert_int_equal(parse(again), 0);
	assert_int_equal(options.settings.flow, SETTINGS_FLOW_NONE);
	assert_int_equal(options.settings.flow_bytes, 0);
}

#define TLS " --tls-certificate c --tls-key k --tls-authorities a"

static void test_transport(void **state)
{
	char read[] = "h", rpc[] = "h --file-sd f --transport rpc";
	char tcp[] = "a b:4792 [::1] --http-sd http://h --transport=tcp" TLS;
	char later[] = "h --transport tcp -c file";
	const struct settings *settings = &options.settings;

	assert_int_equal(parse(read), 0);
	assert_int_equal(settings->targets[0].transport, SETTINGS_TRANSPORT_READ);
	settings__clear(&options.settings);
	assert_int_equal(parse(rpc), 0);
	assert_int_equal(settings->targets[0].transport, SETTINGS_TRANSPORT_RPC);
	assert_string_equal(settings->targets[0].name, "h:4792");
	assert_int_equal(settings->sources[0].defaults.transport, SETTINGS_TRANSPORT_RPC);
	settings__clear(&options.settings);
	assert_int_equal(parse(tcp), 0);
	assert_string_equal(settings->targets[0].name, "a:4793");
	assert_string_equal(settings->targets[1].name, "b:4792");
	assert_string_equal(settings->targets[2].name, "[::1]:4793");
	assert_int_equal(settings->targets[2].transport, SETTINGS_TRANSPORT_TCP);
	assert_int_equal(settings->sources[0].defaults.transport, SETTINGS_TRANSPORT_TCP);
	assert_string_equal(settings->tls.certificate, "c");
	assert_string_equal(settings->tls.key, "k");
	assert_string_equal(settings->tls.authorities, "a");
	settings__clear(&options.settings);
	/* The file may contain them. */
	assert_int_equal(parse(later), 0);
}

static void test_help_and_version(void **state)
{
	char help[] = "-h", version[] = "-V";
	char long_help[] = "--help", long_version[] = "--version";

	assert_int_equal(parse(help), 0);
	assert_int_equal(options.action, OPTIONS_HELP);
	assert_int_equal(parse(version), 0);
	assert_int_equal(options.action, OPTIONS_VERSION);
	assert_int_equal(parse(long_help), 0);
	assert_int_equal(options.action, OPTIONS_HELP);
	assert_int_equal(parse(long_version), 0);
	assert_int_equal(options.action, OPTIONS_VERSION);
}

static void test_doctor(void **state)
{
	char line[] = "-j doctor -e x h:17", named[] = "doctor:17";

	assert_int_equal(parse(line), 0);
	assert_int_equal(options.action, OPTIONS_DOCTOR);
	assert_true(options.json);
	assert_int_equal(options.settings.entry_count, 1);
	assert_int_equal(options.settings.target_count, 1);
	assert_string_equal(options.settings.targets[0].name, "h:17");
	settings__clear(&options.settings);
	assert_int_equal(parse(named), 0);
	assert_int_equal(options.action, OPTIONS_RUN);
	assert_string_equal(options.settings.targets[0].host, "doctor");
}

static void test_sources(void **state)
{
	char line[] = "--file-sd a.json --dns-srv _d._tcp.x --http-sd http://h --file-sd b --socket s";
	const struct source_settings *sources;

	assert_int_equal(parse(line), 0);
	sources = options.settings.sources;
	assert_int_equal(options.settings.source_count, 4);
	assert_int_equal(options.settings.target_count, 0);
	assert_int_equal(sources[0].kind, SOURCE_FILE_SD);
	assert_string_equal(sources[0].place, "a.json");
	assert_int_equal(sources[1].kind, SOURCE_DNS_SRV);
	assert_int_equal(sources[2].kind, SOURCE_HTTP_SD);
	assert_string_equal(sources[2].place, "http://h");
	assert_string_equal(sources[3].place, "b");
	assert_string_equal(options.socket, "s");
}

/* The layout for one agent at the start must suffice until the program ends. */
static void test_one_target(void **state)
{
	static const struct {
		const char *line;
		bool is_one;
	} lines[] = {
		{ "h", true },
		{ "-j --once --socket s h:17", true },
		{ "h i", false },
		{ "--file-sd f h", false },
		{ "--dns-srv _d._tcp.x", false },
		/* The file may name others when it is read again. */
		{ "-c f h", false },
	};
	char line[100];
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		strcpy(line, lines[i].line);
		assert_int_equal(parse(line), 0);
		if (options__has_one_target(&options) != lines[i].is_one)
			fail_msg("'%s'", lines[i].line);
		settings__clear(&options.settings);
	}
}

static void test_record(void **state)
{
	char beside[] = "--record f --record-size 64M --record-files 10 -j h",
	     only[] = "record f -i 1s h", named[] = "record:4792";

	assert_int_equal(parse(beside), 0);
	assert_string_equal(options.settings.record.path, "f");
	assert_int_equal(options.settings.record.size, 64 << 20);
	assert_int_equal(options.settings.record.files, 10);
	assert_false(options.only_records);
	settings__clear(&options.settings);
	assert_int_equal(parse(only), 0);
	assert_int_equal(options.action, OPTIONS_RUN);
	assert_string_equal(options.settings.record.path, "f");
	assert_true(options.only_records);
	assert_string_equal(options.settings.targets[0].host, "h");
	settings__clear(&options.settings);
	assert_int_equal(parse(named), 0);
	assert_string_equal(options.settings.targets[0].host, "record");
}

static void test_replay(void **state)
{
	char play[] = "replay -j --from @5 --to +10s --speed 2 f g", dump[] = "dump f",
	     json[] = "dump --format json f", openmetrics[] = "dump --format openmetrics f",
	     outputs[] = "replay --web=localhost:1 --remote-write http://a/ --influx http://b/ f";
	const struct replay_options *replay = &options.replay;

	assert_int_equal(parse(play), 0);
	assert_int_equal(options.action, OPTIONS_REPLAY);
	assert_int_equal(replay->file_count, 2);
	assert_string_equal(replay->files[1], "g");
	assert_true(replay->speed == 2);
	assert_int_equal(replay->from.ns, 5000000000);
	assert_true(replay->to.is_relative);
	assert_true(options.json);
	assert_int_equal(replay->format, DUMP_NONE);
	assert_int_equal(parse(dump), 0);
	assert_int_equal(options.action, OPTIONS_REPLAY);
	assert_int_equal(replay->format, DUMP_CSV);
	assert_true(replay->speed == 0);
	assert_false(options.json);
	assert_int_equal(parse(json), 0);
	assert_true(options.json);
	assert_int_equal(parse(openmetrics), 0);
	assert_int_equal(replay->format, DUMP_OPENMETRICS);
	assert_false(options.json);
	assert_int_equal(parse(outputs), 0);
	assert_string_equal(options.settings.outputs.web.address, "localhost:1");
	assert_int_equal(options.settings.outputs.receiver_count, 2);
}

static void test_status(void **state)
{
	char line[] = "status -j --socket s", named[] = "status:4792";

	assert_int_equal(parse(line), 0);
	assert_int_equal(options.action, OPTIONS_STATUS);
	assert_true(options.json);
	assert_string_equal(options.socket, "s");
	assert_int_equal(parse(named), 0);
	assert_int_equal(options.action, OPTIONS_RUN);
	assert_string_equal(options.settings.targets[0].host, "status");
}

static void test_refused(void **state)
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
		{ "h --flow fast", "'fast' is not a flow control" },
		{ "h --flow ,16K", "'' is not a flow control" },
		{ "h --flow none,16K", "'none' has no bytes" },
		{ "h --flow credit,", "'' is not a number of bytes" },
		{ "h --flow credit,K", "'K' is not a number of bytes" },
		{ "h --flow credit,4095", "'4095' is not a number of bytes" },
		{ "h --flow credit,3K", "'3K' is not a number of bytes" },
		{ "h --flow credit,1025M", "'1025M' is not a number of bytes" },
		{ "h --flow credit,16k", "'16k' is not a number of bytes" },
		{ "h --flow credit,16KB", "'16KB' is not a number of bytes" },
		{ "h --flow credit,-1", "'-1' is not a number of bytes" },
		{ "h --flow bdp,18446744073709551616", "is not a number of bytes" },
		{ "h --flow", "'--flow' requires a value" },
		{ "h -f none", "unknown option '-f'" },
		{ "h -e x,", "'' is not an entry" },
		{ "h -e x,x", "'x' is named twice" },
		{ "h -n 2 --once", "mutually exclusive" },
		{ "h --clock-bound 0", "'0' is not a bound of clocks" },
		{ "h --clock-bound 2h", "'2h' is not a bound of clocks" },
		{ "h --workers 0", "'0' is not a number of workers" },
		{ "h --workers 65", "'65' is not a number of workers" },
		{ "h --workers 4294967297", "is not a number of workers" },
		{ "h --workers 2x", "'2x' is not a number of workers" },
		{ "h --io epoll", "'epoll' is not a kind of I/O" },
		{ "h -o poll", "unknown option '-o'" },
		{ "h --transport udp", "'udp' is not a transport" },
		{ "h --transport tcp",
		  "agent 'h:4793': tcp needs --tls-certificate" },
		{ "--file-sd f --transport tcp",
		  "source 'f': tcp needs --tls-certificate" },
		{ "h --tls-certificate c --tls-authorities a", "has no key" },
		{ "h --tls-key k --tls-authorities a", "has no certificate" },
		{ "h --tls-key k --tls-certificate c", "has no authorities" },
		{ "h:4793 h --transport tcp", "'h' is named twice" },
		{ "status --tls-key k", "status takes only" },
		{ "doctor h --io poll", "doctor takes only the options" },
		{ "doctor h --record f", "doctor takes only the options" },
		{ "doctor h --from @1", "doctor takes only the options" },
		{ "status --speed 2", "status takes only" },
		{ "h --record-size 1K --record f", "'1K' is not the size of" },
		{ "h --record-size 17T --record f", "'17T' is not the size of" },
		{ "h --record-size 1P --record f", "'1P' is not the size of" },
		{ "h --record-files 0", "'0' is not a number of files" },
		{ "h --record-files 2", "need --record FILE" },
		{ "h --speed 2", "are options of replay and dump" },
		{ "h --format csv", "are options of replay and dump" },
		{ "record", "record takes a file" },
		{ "record f --record g h", "record takes a file" },
		{ "record f", "no agent to scrape" },
		{ "replay", "replay takes files" },
		{ "dump", "dump takes files" },
		{ "replay f --format csv", "replay takes only the options" },
		{ "replay f -i 1s", "replay takes only the options" },
		{ "replay f -e x", "replay takes only the options" },
		{ "dump f --speed 1", "dump takes only the options" },
		{ "dump f -j", "dump takes only the options" },
		{ "dump f --format xml", "'xml' is not a format" },
		{ "replay f --from 10:00", "'10:00' is not a time" },
		{ "replay f --speed fast", "'fast' is not a speed" },
		{ "doctor h --workers 2", "doctor takes only the options" },
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
		{ "doctor", "doctor takes one HOST[:PORT]" },
		{ "doctor a b", "doctor takes one HOST[:PORT]" },
		{ "doctor h --once", "doctor takes only" },
		{ "doctor h -i 1s", "doctor takes only" },
		{ "doctor h --flow bdp", "doctor takes only" },
		{ "doctor h --socket s", "doctor takes only" },
		{ "doctor h --file-sd f", "doctor takes only" },
		{ "status h", "status takes only" },
		{ "status -e x", "status takes only" },
		{ "status -n 1", "status takes only" },
		{ "status --file-sd f", "status takes only" },
		{ "status --shard-member 1", "status takes only" },
		{ "doctor h --replica a", "doctor takes only" },
		{ "shard", "shard needs --explain" },
		{ "shard --explain h", "shard needs the number of members" },
		{ "shard h --shard-members 2 --explain h", "shard needs --explain" },
		{ "shard --shard-members 2 --explain h -i 1s", "shard takes only" },
		{ "h --explain h", "--explain is an option of shard" },
		{ "h --shard-member 1", "needs 'members'" },
		{ "h --shard-members 2", "needs 'member'" },
		{ "h --shard-member 3 --shard-members 2", "no member 3 of 2" },
		{ "--dns-srv a/b", "'a/b' is not a name" },
		{ "--http-sd h", "'h' is not a URL" },
		{ "--http-sd https://", "'https://' is not a URL" },
		{ "--http-sd ftp://u:secret@h/x", "'ftp://h/x' is not a URL" },
		{ "--http-sd u:secret@h/x@y", "'h/x@y' is not a URL" },
		{ "--http-sd http://u:s@h --http-sd http://u:s@h", "source 'http://h' is named twice" },
		{ "--http-sd http://u:s@h --transport tcp", "source 'http://h': tcp needs" },
		{ "--file-sd a --file-sd a", "source 'a' is named twice" },
	};
	char line[100];
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(line, sizeof(line), "%s", wrong[i].line);
		assert_int_equal(parse(line), -EINVAL);
		if (!strstr(error.text, wrong[i].error))
			fail_msg("%s: %s", wrong[i].line, error.text);
		settings__clear(&options.settings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("an agent is a host name or an address, with or without a port",
			      test_agents, NULL, clear_options),
		TEST_FIXTURE("every short option sets its setting",
			      test_short_options, NULL, clear_options),
		TEST_FIXTURE("every long option sets its setting, with '=' or a separate argument",
			      test_long_options, NULL, clear_options),
		TEST_FIXTURE("the last --flow sets what is bounded, and the bytes if it has some",
			      test_flow, NULL, clear_options),
		TEST_FIXTURE("a transport is that of all agents and sources, with its port, and tcp has certificates",
			      test_transport, NULL, clear_options),
		TEST_FIXTURE("--help and --version need no agent",
			      test_help_and_version, NULL, clear_options),
		TEST_FIXTURE("doctor takes one host, --json and --entries; a host called doctor has a port",
			      test_doctor, NULL, clear_options),
		TEST_FIXTURE("sources of agents stand in for agents, several of each kind",
			      test_sources, NULL, clear_options),
		TEST_FIXTURE("values are recorded beside other outputs, or only recorded",
			     test_record, NULL, clear_options),
		TEST_FIXTURE("replay and dump take files, a part by time and a speed",
			     test_replay, NULL, clear_options),
		TEST_FIXTURE("status takes --json and --socket; a host called status has a port",
			      test_status, NULL, clear_options),
		TEST("one agent is the only one that will ever be without a source and a configuration",
		     test_one_target),
		TEST("each mistake on the command line is refused with the word that is wrong",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
