// SPDX-License-Identifier: GPL-2.0-only
/* dartctl store export: prints the configuration of a store for reporters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/export_watch.h"
#include "tools/dartctl/cli/file.h"
#include "tools/dartctl/switch/reports/commands.h"

/* The request of the command line; program and options are for switches. */
struct request {
	const struct target *target;
	const char *reporter;		/* NULL: all of them */
	const char *program;
	const char *watched;		/* a file to keep up to date, or NULL */
	const char *output;		/* a file to write once, or NULL */
	struct report_options options;
};

/* Removes the collectors of other reporters, unless @reporter is NULL. */
static void select_reporter(json_t *collectors, const char *reporter)
{
	size_t i = json_array_size(collectors);
	json_t *collector;
	const char *its;

	while (reporter && i--) {
		collector = json_array_get(collectors, i);
		its = json_string_value(json_object_get(collector, "reporter"));
		if (!its || strcmp(its, reporter))
			json_array_remove(collectors, i);
	}
}

/* Makes a file of dart_collectors(5); NULL if out of memory. */
static json_t *pack_file(json_t *collectors)
{
	return json_pack("{s:i, s:O}", "dart_collectors", 1, "collectors", collectors);
}

/* XDP reporters read the same file. */
static int print_file(json_t *collectors, const struct request *request)
{
	return print_json(pack_file(collectors), 0);
}

/* Prints the same commands as 'switch push' does for the file. */
static int print_bmv2(json_t *collectors, const struct request *request)
{
	json_t *file = pack_file(collectors);
	struct report_wish wish;
	struct dart_error error;
	int ret;

	if (!file)
		return fail__out_of_memory();
	ret = dart_collectors__take(file, "the reply", request->options.reporter, &wish.collectors,
				    &error);
	json_decref(file);
	if (ret)
		return fail(-ret, "cannot export: %s", error.text);
	ret = report_wish__complete(&wish, &request->options, &error);
	if (ret)
		fail(-ret, "cannot export: %s", error.text);
	else
		ret = report_commands__print(request->program, &wish);
	dart_collectors__free(&wish.collectors);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct target {
	const char *name;
	int (*print)(json_t *collectors, const struct request *request);
	bool is_switch;		/* needs a program and ports */
} targets[] = {
	{ "json", print_file, false },
	{ "xdp", print_file, false },
	{ "bmv2", print_bmv2, true },
};

static const struct target *find_target(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	return NULL;
}

static int take_target(void *target, const char *text)
{
	const struct target *found = find_target(text);

	*(const struct target **)target = found;
	return found ? 0 : misuse("there is no target '%s'", text);
}

static int take_watched(void *path, const char *text)
{
	*(const char **)path = text;
	return *text ? 0 : misuse("--watch needs the name of a file");
}

static int take_output(void *path, const char *text)
{
	*(const char **)path = text;
	return *text ? 0 : misuse("--output needs the name of a file");
}

static const struct option_row rows[] = {
	OPTION_OWN("target", struct request, target, take_target),
	OPTION_WORD("reporter", struct request, reporter),
	OPTION_WORD("program", struct request, program),
	OPTION_OWN("port", struct request, options.ports, switch_ports__take),
	OPTION_FLAG("all-copies", struct request, options.all_copies),
	OPTION_OWN("watch", struct request, watched, take_watched),
	OPTION_OWN("output", struct request, output, take_output),
	{}
};

static int parse(struct options *options, int argc, char **argv, struct request *request)
{
	const struct report_options *more = &request->options;

	*request = (struct request){ .target = &targets[0] };
	if (options__take(options, argc, argv, rows, request))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'store export' needs one name");
	if (request->watched && request->output)
		return misuse("--watch and --output are mutually exclusive");
	if (request->target->is_switch && !request->program)
		return misuse("--target %s needs --program and --port", request->target->name);
	if (request->target->is_switch && request->watched)
		return misuse("--watch writes no commands for --target %s (see 'switch push --follow')",
			      request->target->name);
	if (!request->target->is_switch &&
	    (request->program || more->ports.count || more->all_copies))
		return misuse("--target %s takes no --program, --port or --all-copies",
			      request->target->name);
	return 0;
}

static json_t *make_file(json_t *collectors, const void *reporter)
{
	json_t *file;

	select_reporter(collectors, reporter);
	if (!json_array_size(collectors)) {
		errno = ENODATA;
		return NULL;
	}
	file = pack_file(collectors);
	if (!file)
		errno = ENOMEM;
	return file;
}

static int keep_up_to_date(const struct options *options,
			   const struct request *request, const char *store)
{
	static const struct export_kind kind = {
		.object = "store",
		.request = "store-export",
		.member = "collectors",
		.part = "reporter",
		.remedy = "dartctl reporter add",
		.period_ms = -1,
	};
	const struct export_watch watch = {
		.options = options,
		.kind = &kind,
		.name = store,
		.path = request->watched,
		.make = make_file,
		.argument = request->reporter,
	};

	return export_watch__run(&watch);
}

static int print_store(const struct options *options,
		       const struct request *request, const char *store)
{
	json_t *collectors, *reply;
	int status;

	collectors = client__ask(options,
				 json_pack("{s:s, s:s}", "request", "store-export", "name", store),
				 -1, "collectors", &reply, NULL);
	if (!collectors)
		return EXIT_FAILURE;
	select_reporter(collectors, request->reporter);
	if (json_array_size(collectors))
		status = request->target->print(collectors, request);
	else if (request->reporter)
		status = fail(ENOENT, "'%s' is not a reporter of store '%s'",
			      request->reporter, store);
	else
		status = fail(ENOENT, "store '%s' has no reporters (see dartctl reporter add)",
			      store);
	json_decref(reply);
	return status;
}

int command_store_export(struct options *options, int argc, char **argv)
{
	struct request request;
	struct dart_error error;
	int status;

	status = parse(options, argc, argv, &request);
	if (status)
		return status;
	if (request.watched)
		return keep_up_to_date(options, &request, argv[optind]);
	if (request.output && file__begin_output(request.output, &error))
		return fail(EIO, "%s", error.text);
	status = print_store(options, &request, argv[optind]);
	if (request.output && file__end_output(request.output, status, &error))
		status = fail(EIO, "%s", error.text);
	return status;
}
