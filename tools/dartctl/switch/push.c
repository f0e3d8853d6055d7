// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch push: tells a P4 switch where to report to. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/address.h>

#include "follow.h"
#include "push_kind.h"
#include "tools/dartctl/cli/collectors_follow.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/engine/live.h"
#include "tools/dartctl/switch/lookups/push.h"
#include "tools/dartctl/switch/lookups/status.h"
#include "tools/dartctl/switch/reports/commands.h"
#include "tools/dartctl/switch/reports/wish.h"

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
	OPTION_REQUESTER,
	OPTION_OUTSTANDING,
	OPTION_TIMEOUT,
	OPTION_TRIES,
	OPTION_OTHERWISE,
	OPTION_DIGESTS,
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
	{ "requester", required_argument, NULL, OPTION_REQUESTER },
	{ "outstanding", required_argument, NULL, OPTION_OUTSTANDING },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "tries", required_argument, NULL, OPTION_TRIES },
	{ "otherwise", required_argument, NULL, OPTION_OTHERWISE },
	{ "digests", required_argument, NULL, OPTION_DIGESTS },
	{ }
};

static const struct option show_options[] = {
	{ "target", required_argument, NULL, OPTION_TARGET },
	{ "thrift", required_argument, NULL, OPTION_THRIFT },
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
	struct lookup_push lookup;	/* if they are files of tables */
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
	case OPTION_REQUESTER:
		return lookup_push__take_requester(&request->lookup, optarg);
	case OPTION_OUTSTANDING:
		return lookup_options__take_outstanding(
			&request->lookup.options, optarg);
	case OPTION_TIMEOUT:
		return lookup_options__take_timeout(&request->lookup.options,
						    optarg);
	case OPTION_TRIES:
		return lookup_options__take_tries(&request->lookup.options,
						  optarg);
	case OPTION_OTHERWISE:
		return lookup_options__take_otherwise(&request->lookup.options,
						      optarg);
	case OPTION_DIGESTS:
		request->lookup.digests = optarg;
		return 0;
	default:
		return EXIT_USAGE;
	}
}

static int check(const struct request *request, const char *name)
{
	if (!request->target)
		return misuse("'%s' needs --target bmv2", name);
	if (!request->thrift == !request->program)
		return misuse(
			"'%s' needs --thrift, or --program to print commands",
			name);
	if (!request->thrift && request->is_dry)
		return misuse("--dry-run needs --thrift");
	if (request->follows && (!request->thrift || request->is_dry))
		return misuse("--follow needs --thrift and takes no --dry-run");
	return 0;
}

/* What is only for collectors, or only for tables. */
static int check_kind(const struct request *request, enum push_kind kind)
{
	const struct lookup_push *lookup = &request->lookup;

	if (kind == PUSH_COLLECTORS) {
		if (lookup_push__is_given(lookup))
			return misuse("--requester, --outstanding, --timeout, --tries, --otherwise and --digests are for files of tables");
		return 0;
	}
	if (request->program || request->options.all_copies ||
	    request->options.reporter.s_addr != INADDR_ANY)
		return misuse("--program, --reporter and --all-copies are for files of collectors");
	if (lookup->digests && !request->follows)
		return misuse("--digests needs --follow");
	return 0;
}

static int take_files(struct request *request, int argc, char **argv)
{
	if (optind == argc)
		return misuse("'%s' needs files of collectors or of tables",
			      argv[0]);
	if (argc - optind > FILES_MAX)
		return misuse("'%s' takes at most %d files",
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

static int parse(struct options *options, int argc, char **argv,
		 struct request *request)
{
	int option, ret = 0;

	*request = (struct request){ .target = NULL };
	lookup_options__init(&request->lookup.options);
	while (!ret && (option = options__next(options, argc, argv,
					       long_options)) != -1)
		ret = take(request, option);
	return ret ?: check(request, argv[0]) ?:
	       take_files(request, argc, argv);
}

/* What is the first file about?  The readers of collectors refuse one that is neither. */
static int find_kind(const struct request *request, enum push_kind *kind)
{
	struct dart_error error;
	int ret;

	*kind = PUSH_COLLECTORS;
	if (request->follows) {
		ret = push_kind__wait(request->thrift, request->files,
				      request->file_count, kind, &error);
		return ret ? fail(-ret, "%s", error.text) : 0;
	}
	push_kind__read(request->files[0], kind, &error);
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

static int push_tables(struct request *request)
{
	struct lookup_push *push = &request->lookup;

	push->thrift = request->thrift;
	push->ports = &request->options;
	push->as_json = request->as_json;
	push->files = request->files;
	push->file_count = request->file_count;
	return request->follows ? lookup_follow__run(push) :
				  lookup_push__once(push, request->is_dry);
}

static int push(struct options *options, int argc, char **argv)
{
	enum push_kind kind;
	struct request request;
	struct switch_wish wish;
	struct dart_error error;
	int ret;

	ret = parse(options, argc, argv, &request);
	if (ret)
		return ret;
	request.as_json = options->json;
	ret = find_kind(&request, &kind) ?: check_kind(&request, kind);
	if (ret)
		return ret;
	if (kind == PUSH_TABLES)
		return push_tables(&request);
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

/* Only a switch that looks keys up has more to show than 'push --dry-run' does. */
static int show(struct options *options, int argc, char **argv)
{
	const char *target = NULL, *thrift = NULL;
	int option;

	while ((option = options__next(options, argc, argv, show_options)) !=
	       -1) {
		if (option == OPTION_TARGET)
			target = optarg;
		else if (option == OPTION_THRIFT)
			thrift = optarg;
		else
			return EXIT_USAGE;
	}
	if (!target || strcmp(target, "bmv2") || !thrift || !has_port(thrift))
		return misuse("'%s' needs --target bmv2 and --thrift HOST:PORT",
			      argv[0]);
	if (optind < argc)
		return misuse("'%s' takes no names", argv[0]);
	return lookup_status__show(thrift, options->json);
}

const struct command switch_commands[] = {
	{ "push",
	  "--target bmv2 --thrift HOST:PORT|--program FILE --port [ADDRESS=]PORT... [--reporter ADDRESS] [--all-copies] [--requester ADDRESS] [--outstanding N] [--timeout MICROSECONDS] [--tries N] [--otherwise [OUTCOME=]PORT]... [--digests ADDRESS] [--dry-run] [--follow] FILE...",
	  "configure the collectors or the lookup tables of a P4 switch, with --follow also later ones",
	  .parse = push },
	{ "show", "--target bmv2 --thrift HOST:PORT",
	  "print the servers, packets and entries of a P4 switch with lookup tables",
	  .parse = show },
	{ }
};
