// SPDX-License-Identifier: GPL-2.0-only
/* The commands of dart-controller, and which options each of them takes. */
#include "options_command.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

/* Does the command line have transport options? */
static bool has_connecting(const struct options *options)
{
	const struct settings *settings = &options->settings;

	return options->config || settings->transport ||
	       settings->tls.certificate || settings->tls.key ||
	       settings->tls.authorities;
}

/* Does the command line have options for repeated scrapes? */
static bool has_repeating(const struct options *options)
{
	const struct settings *settings = &options->settings;

	return options->only_checks || options->count || options->once ||
	       settings->interval_ns || settings->flow || settings->io ||
	       settings->workers || settings->clock_bound_ns ||
	       settings->source_count ||
	       settings->record.path || settings->record.size ||
	       settings->record.files;
}

/* Does the command line have options of scrapes that a replay does not take? */
static bool has_scraping(const struct options *options)
{
	return has_connecting(options) || has_repeating(options);
}

/* Are there options that only scraping takes? */
static bool has_more(const struct options *options)
{
	return has_scraping(options) ||
	       output_settings__has_any(&options->settings.outputs);
}

/* Are there options that only replay and dump take? */
static bool has_replay(const struct options *options)
{
	const struct replay_options *replay = &options->replay;

	return replay->from.is_set || replay->to.is_set || replay->has_speed ||
	       replay->format;
}

static int check_status(const struct options *options, struct dart_error *error)
{
	if (!has_more(options) && !has_replay(options) &&
	    !options->settings.target_count && !options->settings.entry_count)
		return 0;
	return dart_error__set(
		error, EINVAL,
		"status takes only the options --json and --socket");
}

static int check_doctor(const struct options *options, struct dart_error *error)
{
	if (options->settings.target_count != 1)
		return dart_error__set(error, EINVAL,
				       "doctor takes one HOST[:PORT]");
	if (has_repeating(options) || has_replay(options) || options->socket ||
	    output_settings__has_any(&options->settings.outputs))
		return dart_error__set(
			error, EINVAL,
			"doctor takes only the options --json, --entries, --config, --transport and those of TLS");
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
		return dart_error__set(error, EINVAL, "%s takes files",
				       dumps ? "dump" : "replay");
	/* One that the other command has is neither's. */
	if (has_scraping(options) || options->settings.entry_count ||
	    options->socket ||
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

static int take_doctor(struct options *options, int argc, char *argv[],
		       struct dart_error *error)
{
	options->action = OPTIONS_DOCTOR;
	return 0;
}

static int take_status(struct options *options, int argc, char *argv[],
		       struct dart_error *error)
{
	options->action = OPTIONS_STATUS;
	return 0;
}

static int take_replay(struct options *options, int argc, char *argv[],
		       struct dart_error *error)
{
	return take_files(options, false, argc, argv, error);
}

static int take_dump(struct options *options, int argc, char *argv[],
		     struct dart_error *error)
{
	return take_files(options, true, argc, argv, error);
}

/* The word behind the command record. */
static int take_record(struct options *options, int argc, char *argv[],
		       struct dart_error *error)
{
	if (optind == argc || options->settings.record.path)
		return dart_error__set(error, EINVAL,
				       "record takes a file, and then agents");
	options->only_records = true;
	return settings_record__set_path(&options->settings.record,
					 argv[optind++]);
}

int options_command__take(struct options *options, int argc, char *argv[],
			  struct dart_error *error)
{
	static const struct {
		const char *name;
		int (*take)(struct options *options, int argc, char *argv[],
			    struct dart_error *error);
	} commands[] = {
		{ "doctor", take_doctor }, { "status", take_status },
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
	if ((record->size || record->files) && !record->path &&
	    !options->config)
		return dart_error__set(
			error, EINVAL,
			"--record-size and --record-files need --record FILE");
	return 0;
}

static int check_run(const struct options *options, struct dart_error *error)
{
	int err = check_record(options, error);

	if (err)
		return err;
	if (options->only_checks && !options->config)
		return dart_error__set(error, EINVAL,
				       "--check needs --config FILE");
	if (options->once && options->count)
		return dart_error__set(
			error, EINVAL,
			"--once and --count are mutually exclusive");
	if (!options->settings.target_count && !options->config &&
	    !options->settings.source_count)
		return dart_error__set(
			error, EINVAL,
			"no agent to scrape (add HOST[:PORT], --config FILE or a source)");
	/* The configuration may have the certificates. */
	return options->config ? 0 :
				 settings__check_tls(&options->settings, error);
}

/* The file can bring what the options lack. */
static int check_http(const struct options *options, struct dart_error *error)
{
	const struct output_settings *outputs = &options->settings.outputs;

	return options->config ? 0 :
				 http_settings__check(&outputs->listen, error) ?:
				 http_settings__check(&outputs->web, error);
}

int options_command__check(const struct options *options,
			   struct dart_error *error)
{
	int err = check_http(options, error);

	if (err)
		return err;
	switch (options->action) {
	case OPTIONS_DOCTOR:
		return check_doctor(options, error);
	case OPTIONS_STATUS:
		return check_status(options, error);
	case OPTIONS_RUN:
		return check_run(options, error);
	default:
		return 0;
	}
}
