// SPDX-License-Identifier: GPL-2.0-only
/* The command line of dart-controller: its commands, and options that are not settings. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

/* ---- options */

static int take_time(void *object, const struct dart_setting *setting, const char *text,
		     struct dart_error *error)
{
	int ret = replay_time__parse(text, (struct replay_time *)((char *)object +
								  setting->offset));

	if (ret == -ERANGE)
		return dart_error__set(
			error, EINVAL,
			"'%s' does not exist: the month has fewer days, or the clocks leave this time out (give another time)",
			text);
	return ret ? dart_setting__refuse(setting, text, error) : 0;
}

static int take_speed(void *object, const struct dart_setting *setting, const char *text,
		      struct dart_error *error)
{
	struct options *options = object;

	options->replay.has_speed = true;
	return replay_options__parse_speed(text, &options->replay.speed) ?
		       dart_setting__refuse(setting, text, error) :
		       0;
}

static int take_help(void *options, const struct dart_setting *setting, const char *text,
		     struct dart_error *error)
{
	((struct options *)options)->action = OPTIONS_HELP;
	return 0;
}

static int take_version(void *options, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	((struct options *)options)->action = OPTIONS_VERSION;
	return 0;
}

#define MEMBER(member)	DART_SETTING_MEMBER(struct options, member)
#define TIME									\
	.take = take_time, .argument = "TIME", .noun = "a time",		\
	.expected = "'2026-11-25 10:30:00', +90s or @1764066600"

static const struct dart_setting rows[] = {
	{ .option = "count", .letter = 'n', .argument = "N", .type = DART_SETTING_NUMBER,
	  MEMBER(count), .least = 1, .most = UINT64_MAX, .noun = "a count",
	  .expected = "a number above 0", .help = "exit after N scrapes of each agent" },
	{ .option = "once", .type = DART_SETTING_FLAG, MEMBER(once),
	  .help = "print all values of one scrape and exit" },
	{ .option = "json", .letter = 'j', .type = DART_SETTING_FLAG, MEMBER(json),
	  .help = "print JSON, one line per scrape" },
	{ .option = "config", .letter = 'c', .argument = "FILE", .type = DART_SETTING_WORD,
	  MEMBER(config), .completion = "@file yaml yml",
	  .help = "read further agents and settings from a YAML file, and again on SIGHUP" },
	{ .option = "check", .type = DART_SETTING_FLAG, MEMBER(only_checks),
	  .help = "check that file and the certificates, and exit: 1 if they cannot be used" },
	{ .option = "socket", .argument = "PATH", .type = DART_SETTING_WORD, MEMBER(socket),
	  .completion = "@file", .help = "the control socket, where status asks" },
	{ .option = "explain", .argument = "HOST[:PORT]", .type = DART_SETTING_WORD,
	  MEMBER(explained), .completion = "@host",
	  .help = "with shard: the agent whose members are printed" },
	{ .option = "from", TIME, MEMBER(replay.from),
	  .help = "replay the scrapes from this time on: '2026-11-25 10:30:00', +90s from the beginning of the recording, or @ and seconds since 1970" },
	{ .option = "to", TIME, MEMBER(replay.to),
	  .help = "replay the scrapes before this time" },
	{ .option = "speed", .argument = "X", .take = take_speed, .noun = "a speed",
	  .expected = "0.001 to 1000000, or max", .completion = "1 10 max",
	  .help = "replay X times as fast, or with max as fast as possible" },
	{ .option = "format", .argument = "KIND", .type = DART_SETTING_CHOICE,
	  MEMBER(replay.format), .words = "csv|json|openmetrics", .noun = "a format",
	  .help = "format of a dump: csv (the default), json or openmetrics" },
	{ .option = "help", .letter = 'h', .take = take_help, .help = "print this and exit" },
	{ .option = "version", .letter = 'V', .take = take_version,
	  .help = "print the version and exit" },
};

static const struct dart_settings table = DART_SETTINGS(rows);

const struct dart_program program = {
	.name = "dart-controller",
	.usage =
		"Usage: dart-controller [OPTION]... [HOST[:PORT]]...\n"
		"       dart-controller doctor [-j] [-e NAME,...] [--config FILE] [--transport tcp]\n"
		"                       [--tls-certificate FILE ...] HOST[:PORT]\n"
		"       dart-controller status [-j] [--socket PATH]\n"
		"       dart-controller shard [-j] [--config FILE] --explain HOST[:PORT]\n"
		"       dart-controller record FILE [OPTION]... [HOST[:PORT]]...\n"
		"       dart-controller replay [-j] [--from TIME] [--to TIME] [--speed X] FILE...\n"
		"       dart-controller dump [--format KIND] [--from TIME] [--to TIME] FILE...\n"
		"Reads metrics from the memory of hosts by RDMA READ, or asks their agents, finds out\n"
		"why that fails, shows what a controller that runs does, or replays what one recorded.\n",
	.groups = (const struct dart_option_group[]){
		{ "Settings, which a configuration file can have, too:", &settings__table },
		{ "Options of this run:", &table },
		{},
	},
	.epilogue =
		"HOST is a name or an address ([V6]:PORT for IPv6); PORT is 4792 by default, by tcp 4793.\n",
};

/* ---- commands */

/* Does the command line have transport options? */
static bool has_connecting(const struct options *options)
{
	const struct settings *settings = &options->settings;

	return options->config || settings->transport || settings->tls.certificate ||
	       settings->tls.key || settings->tls.authorities;
}

/* Does the command line have options for repeated scrapes? */
static bool has_repeating(const struct options *options)
{
	const struct settings *settings = &options->settings;

	return options->only_checks || options->count || options->once || settings->interval_ns ||
	       settings->flow || settings->io || settings->io_threads || settings->workers || settings->dscp ||
	       settings->mirror_bytes ||
	       settings->clock_bound_ns ||
	       settings->source_count || settings->record.path || settings->record.size ||
	       settings->record.files;
}

/* Does the command line have options of one of several controllers? */
static bool has_members(const struct options *options)
{
	const struct settings *settings = &options->settings;

	return settings->shard.member || settings->shard.members || settings->replica;
}

/* Does the command line have options of scrapes that a replay refuses? */
static bool has_scraping(const struct options *options)
{
	return has_connecting(options) || has_repeating(options) || has_members(options) ||
	       options->explained;
}

/* Does the command line have options that only scraping takes? */
static bool has_more(const struct options *options)
{
	return has_scraping(options) || output_settings__has_any(&options->settings.outputs);
}

/* Does the command line have options that only replay and dump take? */
static bool has_replay(const struct options *options)
{
	const struct replay_options *replay = &options->replay;

	return replay->from.is_set || replay->to.is_set || replay->has_speed || replay->format;
}

static int check_status(const struct options *options, struct dart_error *error)
{
	if (!has_more(options) && !has_replay(options) &&
	    !options->settings.target_count && !options->settings.entry_count)
		return 0;
	return dart_error__set(error, EINVAL, "status takes only the options --json and --socket");
}

static int check_doctor(const struct options *options, struct dart_error *error)
{
	if (options->settings.target_count != 1)
		return dart_error__set(error, EINVAL, "doctor takes one HOST[:PORT]");
	if (has_repeating(options) || has_members(options) || has_replay(options) ||
	    options->socket || options->explained ||
	    output_settings__has_any(&options->settings.outputs))
		return dart_error__set(
			error, EINVAL,
			"doctor takes only the options --json, --entries, --config, --transport and those of TLS");
	return 0;
}

static int check_shard(const struct options *options, struct dart_error *error)
{
	if (!options->explained || options->settings.target_count)
		return dart_error__set(error, EINVAL, "shard needs --explain HOST[:PORT]");
	if (has_repeating(options) || has_replay(options) || options->socket ||
	    options->settings.replica || options->settings.entry_count ||
	    output_settings__has_any(&options->settings.outputs))
		return dart_error__set(
			error, EINVAL,
			"shard takes only the options --json, --config, --shard-members, --shard-member and --transport");
	if (!options->config && !options->settings.shard.members)
		return dart_error__set(error, EINVAL,
				       "shard needs the number of members (add --config FILE or --shard-members N)");
	return 0;
}

/* The rest of the words are files. */
static int take_files(struct options *options, bool dumps, int argc,
		      char *argv[], struct dart_error *error)
{
	struct replay_options *replay = &options->replay;

	replay->files = argv + optind;
	replay->file_count = argc - optind;
	optind = argc;
	if (!replay->file_count)
		return dart_error__set(error, EINVAL, "%s takes files", dumps ? "dump" : "replay");
	/* Reject options that belong to the other command. */
	if (has_scraping(options) || options->settings.entry_count || options->socket ||
	    (dumps ? has_more(options) || replay->has_speed || options->json :
		     replay->format != DUMP_NONE))
		return dart_error__set(
			error, EINVAL,
			dumps ? "dump takes only the options --format, --from and --to" :
				"replay takes only the options --json, --from, --to, --speed, and those of outputs");
	if (!dumps && !replay->has_speed)
		replay->speed = 1;
	if (dumps && !replay->format)
		replay->format = DUMP_CSV;
	options->json = options->json || replay->format == DUMP_JSON;
	options->action = OPTIONS_REPLAY;
	return 0;
}

static int take_doctor(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	options->action = OPTIONS_DOCTOR;
	return 0;
}

static int take_status(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	options->action = OPTIONS_STATUS;
	return 0;
}

static int take_shard(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	options->action = OPTIONS_SHARD;
	return 0;
}

static int take_replay(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	return take_files(options, false, argc, argv, error);
}

static int take_dump(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	return take_files(options, true, argc, argv, error);
}

/* The word after the command record is the file. */
static int take_record(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	if (optind == argc || options->settings.record.path)
		return dart_error__set(error, EINVAL, "record takes a file, and then agents");
	options->only_records = true;
	return dart_setting__take(dart_settings__find(&settings__table, "record.file"),
				  &options->settings, argv[optind++], error);
}

/*
 * Takes the command at argv[optind], if there is one, and its words that are not agents; moves
 * optind past them.
 */
static int take_command(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	static const struct {
		const char *name;
		int (*take)(struct options *options, int argc, char *argv[],
			    struct dart_error *error);
	} commands[] = {
		{ "doctor", take_doctor }, { "status", take_status },
		{ "shard", take_shard },
		{ "record", take_record }, { "replay", take_replay },
		{ "dump", take_dump },
	};
	size_t i;

	if (optind == argc)
		return 0;
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[optind], commands[i].name))
			continue;
		optind++;
		return commands[i].take(options, argc, argv, error);
	}
	return 0;
}

static int check_record(const struct options *options, struct dart_error *error)
{
	const struct settings_record *record = &options->settings.record;

	if (has_replay(options))
		return dart_error__set(
			error, EINVAL,
			"--from, --to, --speed and --format are options of replay and dump");
	if ((record->size || record->files) && !record->path && !options->config)
		return dart_error__set(error, EINVAL,
				       "--record-size and --record-files need --record FILE");
	return 0;
}

static int check_run(const struct options *options, struct dart_error *error)
{
	int err = check_record(options, error);

	if (err)
		return err;
	if (options->explained)
		return dart_error__set(error, EINVAL, "--explain is an option of shard");
	if (options->only_checks && !options->config)
		return dart_error__set(error, EINVAL, "--check needs --config FILE");
	if (options->once && options->count)
		return dart_error__set(error, EINVAL, "--once and --count are mutually exclusive");
	if (!options->settings.target_count && !options->config && !options->settings.source_count)
		return dart_error__set(
			error, EINVAL,
			"no agent to scrape (add HOST[:PORT], --config FILE or a source)");
	/* The configuration may name the certificates, and the members. */
	return options->config ? 0 :
				 settings__check_tls(&options->settings, error) ?:
				 shard__check(&options->settings.shard, error);
}

/* The file may have the settings that the options lack. */
static int check_http(const struct options *options, struct dart_error *error)
{
	const struct output_settings *outputs = &options->settings.outputs;

	return options->config ? 0 :
				 http_settings__check(&outputs->listen, error) ?:
				 http_settings__check(&outputs->web, error);
}

/* Does the command have all options that it needs, and no others? */
static int check_command(const struct options *options, struct dart_error *error)
{
	int err = check_http(options, error);

	if (err)
		return err;
	switch (options->action) {
	case OPTIONS_DOCTOR:
		return check_doctor(options, error);
	case OPTIONS_STATUS:
		return check_status(options, error);
	case OPTIONS_SHARD:
		return check_shard(options, error);
	case OPTIONS_RUN:
		return check_run(options, error);
	default:
		return 0;
	}
}

/* ---- all words */

/* Adds an agent that the command line names. */
static int add_target(struct settings *settings, const char *text, struct dart_error *error)
{
	uint16_t port;
	char *host;
	int err;

	err = settings__parse_agent(text, &host, &port);
	if (err)
		return dart_error__set(
			error, -err, "'%s' is not an agent (expected HOST, HOST:PORT or [V6]:PORT)",
			text);
	err = settings__add_target(settings, host,
				   port ?: settings__default_port(settings->transport), 0);
	free(host);
	if (err == -EEXIST)
		return dart_error__set(error, EINVAL, "agent '%s' is named twice", text);
	if (err == -E2BIG)
		return dart_error__set(error, EINVAL, "there are more than %d agents",
				       SETTINGS_TARGETS_MAX);
	if (!err && settings->transport)
		settings->targets[settings->target_count - 1].transport = settings->transport;
	return err;
}

/* The options of sources may come before the option of the transport. */
static void choose_transport(struct settings *settings)
{
	size_t i;

	for (i = 0; settings->transport && i < settings->source_count; i++)
		settings->sources[i].defaults.transport = settings->transport;
}

int options__parse(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	const struct dart_settings_of places[] = {
		{ .table = &settings__table, .object = &options->settings },
		{ .table = &table, .object = options },
		{},
	};
	int err;

	memset(options, 0, sizeof(*options));
	dart_error__no_memory(error);
	err = dart_program__parse(places, argc, argv, error);
	if (!err && !options->action)
		err = take_command(options, argc, argv, error);
	for (; !err && optind < argc; optind++)
		err = add_target(&options->settings, argv[optind], error);
	if (err)
		return err;
	choose_transport(&options->settings);
	err = check_command(options, error);
	if (!err && options->action == OPTIONS_RUN && !options->config)
		err = settings__label_replica(&options->settings, error);
	return err;
}
