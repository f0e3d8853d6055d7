// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>

#include "store.h"
#include "tools/dartctl/client.h"
#include "tools/dartctl/command.h"
#include "tools/dartctl/switch/commands.h"

enum {
	OPTION_TARGET = OPTIONS_OWN,
	OPTION_REPORTER,
	OPTION_PROGRAM,
	OPTION_PORT,
	OPTION_ALL_COPIES,
};

static const struct option export_options[] = {
	{ "target", required_argument, NULL, OPTION_TARGET },
	{ "reporter", required_argument, NULL, OPTION_REPORTER },
	{ "program", required_argument, NULL, OPTION_PROGRAM },
	{ "port", required_argument, NULL, OPTION_PORT },
	{ "all-copies", no_argument, NULL, OPTION_ALL_COPIES },
	{ }
};

/* What the command line says; the last two are for switches. */
struct request {
	const struct target *target;
	const char *reporter;		/* NULL: all of them */
	const char *program;
	struct switch_options options;
};

/* Leaves what is for @reporter, or everything if that is NULL. */
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

/* What dart_collectors(5) describes; NULL if memory is short. */
static json_t *pack_file(json_t *collectors)
{
	return json_pack("{s:i, s:O}", "dart_collectors", 1,
			 "collectors", collectors);
}

/* XDP reporters read it, too. */
static int print_json(json_t *collectors, const struct request *request)
{
	json_t *file = pack_file(collectors);
	int ret = json_dumpf(file, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);

	json_decref(file);
	if (ret)
		return fail("memory is short");
	putchar('\n');
	return EXIT_SUCCESS;
}

/* The same as 'switch push' prints of the file. */
static int print_bmv2(json_t *collectors, const struct request *request)
{
	json_t *file = pack_file(collectors);
	struct switch_wish wish;
	struct dart_error error;
	int ret;

	if (!file)
		return fail("memory is short");
	ret = dart_collectors__take(file, "the reply",
				    request->options.reporter, &wish.collectors,
				    &error);
	json_decref(file);
	if (ret)
		return fail("cannot export: %s", error.text);
	ret = switch_wish__complete(&wish, &request->options, &error);
	if (ret)
		fail("cannot export: %s", error.text);
	else
		ret = switch_commands__print(request->program, &wish);
	dart_collectors__free(&wish.collectors);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct target {
	const char *name;
	int (*print)(json_t *collectors, const struct request *request);
	bool is_switch;		/* with a program and ports */
} targets[] = {
	{ "json", print_json, false },
	{ "xdp", print_json, false },
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

static int take(struct request *request, int option)
{
	switch (option) {
	case OPTION_TARGET:
		request->target = find_target(optarg);
		if (!request->target)
			return misuse("there is no target '%s'", optarg);
		return 0;
	case OPTION_REPORTER:
		request->reporter = optarg;
		return 0;
	case OPTION_PROGRAM:
		request->program = optarg;
		return 0;
	case OPTION_PORT:
		return switch_options__take_port(&request->options, optarg);
	case OPTION_ALL_COPIES:
		request->options.all_copies = true;
		return 0;
	default:
		return EXIT_USAGE;
	}
}

static int parse(struct options *options, int argc, char **argv,
		 struct request *request)
{
	const struct switch_options *more = &request->options;
	int option, ret = 0;

	*request = (struct request){ .target = &targets[0] };
	while (!ret && (option = options__next(options, argc, argv,
					       export_options)) != -1)
		ret = take(request, option);
	if (ret)
		return ret;
	if (argc - optind != 1)
		return misuse("'store export' needs one name");
	if (request->target->is_switch && !request->program)
		return misuse("--target %s needs --program and --port",
			      request->target->name);
	if (!request->target->is_switch &&
	    (request->program || more->port_count || more->all_copies))
		return misuse("--target %s has no program, ports or copies",
			      request->target->name);
	return 0;
}

int store_export(struct options *options, int argc, char **argv)
{
	json_t *collectors, *reply;
	struct request request;
	int fd, status;

	status = parse(options, argc, argv, &request);
	if (status)
		return status;
	collectors = client__fetch(options,
				   json_pack("{s:s, s:s}", "request",
					     "store-export", "name",
					     argv[optind]),
				   -1, "collectors", &reply, &fd);
	if (!collectors)
		return EXIT_FAILURE;
	select_reporter(collectors, request.reporter);
	if (json_array_size(collectors))
		status = request.target->print(collectors, &request);
	else if (request.reporter)
		status = fail("%s is no reporter of '%s'", request.reporter,
			      argv[optind]);
	else
		status = fail("'%s' has no reporters (see dartctl reporter add)",
			      argv[optind]);
	json_decref(reply);
	return status;
}
