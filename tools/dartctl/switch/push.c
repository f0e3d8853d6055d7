// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch push: tells a P4 switch where to report to. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/address.h>

#include "commands.h"
#include "live.h"
#include "tools/dartctl/collectors_follow.h"
#include "tools/dartctl/command.h"
#include "wish.h"

#define FILES_MAX	DART_COLLECTORS_MAX

enum {
	OPTION_TARGET = OPTIONS_OWN,
	OPTION_THRIFT,
	OPTION_PROGRAM,
	OPTION_REPORTER,
	OPTION_PORT,
	OPTION_ALL_COPIES,
	OPTION_DRY_RUN,
	OPTION_FOLLOW,
};

static const struct option long_options[] = {
	{ "target", required_argument, NULL, OPTION_TARGET },
	{ "thrift", required_argument, NULL, OPTION_THRIFT },
	{ "program", required_argument, NULL, OPTION_PROGRAM },
	{ "reporter", required_argument, NULL, OPTION_REPORTER },
	{ "port", required_argument, NULL, OPTION_PORT },
	{ "all-copies", no_argument, NULL, OPTION_ALL_COPIES },
	{ "dry-run", no_argument, NULL, OPTION_DRY_RUN },
	{ "follow", no_argument, NULL, OPTION_FOLLOW },
	{ }
};

/* From the command line. */
struct request {
	const char *target;
	const char *thrift;	/* NULL: print commands */
	const char *program;	/* for this program */
	bool is_dry;
	bool follows;
	bool as_json;
	struct switch_options options;
	size_t file_count;
	const char *files[FILES_MAX];
};

/* Is it "HOST:PORT", as dart_address__parse() takes it but with a port? */
static bool has_port(const char *text)
{
	char *host, *name = NULL;
	uint16_t port;
	bool is_same;

	if (dart_address__parse(text, &host, &port))
		return false;
	name = dart_address__name(host, port);
	is_same = name && !strcmp(name, text);
	free(name);
	free(host);
	return is_same;
}

static int take(struct request *request, int option)
{
	switch (option) {
	case OPTION_TARGET:
		request->target = optarg;
		if (strcmp(optarg, "bmv2"))
			return misuse("there is no target '%s'", optarg);
		return 0;
	case OPTION_THRIFT:
		request->thrift = optarg;
		if (!has_port(optarg))
			return misuse("'%s' is not HOST:PORT", optarg);
		return 0;
	case OPTION_PROGRAM:
		request->program = optarg;
		return 0;
	case OPTION_REPORTER:
		return switch_options__take_reporter(&request->options, optarg);
	case OPTION_PORT:
		return switch_options__take_port(&request->options, optarg);
	case OPTION_ALL_COPIES:
		request->options.all_copies = true;
		return 0;
	case OPTION_DRY_RUN:
		request->is_dry = true;
		return 0;
	case OPTION_FOLLOW:
		request->follows = true;
		return 0;
	default:
		return EXIT_USAGE;
	}
}

static int parse(struct options *options, int argc, char **argv,
		 struct request *request)
{
	int option, ret = 0;

	*request = (struct request){ .target = NULL };
	while (!ret && (option = options__next(options, argc, argv,
					       long_options)) != -1)
		ret = take(request, option);
	if (ret)
		return ret;
	if (!request->target)
		return misuse("'%s' needs --target bmv2", argv[0]);
	if (!request->thrift == !request->program)
		return misuse(
			"'%s' needs --thrift, or --program to print commands",
			argv[0]);
	if (!request->thrift && request->is_dry)
		return misuse("--dry-run needs --thrift");
	if (request->follows && (!request->thrift || request->is_dry))
		return misuse("--follow needs --thrift and takes no --dry-run");
	if (optind == argc)
		return misuse("'%s' needs files of collectors", argv[0]);
	if (argc - optind > FILES_MAX)
		return misuse("'%s' takes at most %d files of collectors",
			      argv[0], FILES_MAX);
	for (; optind < argc; optind++) {
		if (request->follows && !strcmp(argv[optind], "-"))
			return misuse("--follow needs files, not the standard input");
		request->files[request->file_count++] =
			strcmp(argv[optind], "-") ? argv[optind] :
						    "/dev/stdin";
	}
	return 0;
}

/* Combines the files with the options. */
static int make_wish(const struct request *request, struct switch_wish *wish,
		     struct dart_error *error)
{
	int ret;

	ret = dart_collectors__load(request->files, request->file_count,
				    request->options.reporter,
				    &wish->collectors, error);
	if (ret)
		return ret;
	ret = switch_wish__complete(wish, &request->options, error);
	if (ret)
		dart_collectors__free(&wish->collectors);
	return ret;
}

static int apply(void *subject, const struct dart_collectors *collectors,
		 const struct dart_collectors *last, struct dart_error *error)
{
	const struct request *request = subject;
	struct switch_wish wish = { .collectors = *collectors };
	int ret;

	ret = switch_wish__complete(&wish, &request->options, error) ?:
	      switch_live__push(request->thrift, &wish, false, request->as_json,
				error);
	fflush(stdout);
	return ret;
}

/* A switch may be restarted at any time, and no event tells of it. */
static int follow(struct request *request)
{
	const struct collectors_follow follow = {
		.name = request->thrift,
		.files = request->files,
		.file_count = request->file_count,
		.reporter = request->options.reporter,
		.remedy = "push them without --follow first",
		.apply = apply,
		.subject = request,
		.retries = true,
	};

	return collectors_follow__run(&follow);
}

static int push(struct options *options, int argc, char **argv)
{
	struct request request;
	struct switch_wish wish;
	struct dart_error error;
	int ret;

	ret = parse(options, argc, argv, &request);
	if (ret)
		return ret;
	request.as_json = options->json;
	if (request.follows)
		return follow(&request);
	ret = make_wish(&request, &wish, &error);
	if (ret)
		return fail(-ret, "cannot push: %s", error.text);
	if (request.thrift) {
		ret = switch_live__push(request.thrift, &wish, request.is_dry,
					options->json, &error);
		if (ret)
			ret = fail(-ret, "%s", error.text);
	} else {
		ret = switch_commands__print(request.program, &wish);
	}
	dart_collectors__free(&wish.collectors);
	return ret;
}

const struct command switch_commands[] = {
	{ "push", "--target bmv2 --thrift HOST:PORT|--program FILE --port [ADDRESS=]PORT... [--reporter ADDRESS] [--all-copies] [--dry-run] [--follow] FILE...",
	  "configure the collectors of a P4 switch, with --follow also later ones",
	  .parse = push },
	{ }
};
