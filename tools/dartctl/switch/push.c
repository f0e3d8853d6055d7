// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch: sets a P4 switch up, and shows one with lookup tables. */
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/address.h>

#include "follow.h"
#include "push_kind.h"
#include "status.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/journals/kind.h"
#include "tools/dartctl/switch/ledgers/kind.h"
#include "tools/dartctl/switch/ledgers/status.h"
#include "tools/dartctl/switch/lookups/push.h"
#include "tools/dartctl/switch/lookups/status.h"
#include "tools/dartctl/switch/reports/push.h"
#include "tools/dartctl/switch/reports/status.h"
#include "tools/dartctl/switch/sketches/kind.h"
#include "tools/dartctl/switch/sketches/merge_kind.h"

#define FILES_MAX	DART_COLLECTORS_MAX

/* The request of the command line. */
struct request {
	const char *target;
	const char *thrift;	/* of the switch, or NULL: print commands */
	bool is_dry;
	bool follows;
	bool counts_bytes; /* for a file of ledgers */
	bool merges; /* for a file of sketches */
	struct switch_ports ports;
	struct report_push reports;	/* for files of collectors */
	struct lookup_push lookups;	/* for files of lookup tables */
	size_t file_count;
	const char *files[FILES_MAX];
};

/* Is @text "HOST:PORT"?  dart_address__parse() would accept it without a port, too. */
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

static int take_target(void *target, const char *text)
{
	*(const char **)target = text;
	return strcmp(text, "bmv2") ? misuse("there is no target '%s'", text) : 0;
}

static int take_thrift(void *thrift, const char *text)
{
	*(const char **)thrift = text;
	return has_port(text) ? 0 : misuse("'%s' is not HOST:PORT", text);
}

static const struct option_row push_rows[] = {
	OPTION_OWN("target", struct request, target, take_target),
	OPTION_OWN("thrift", struct request, thrift, take_thrift),
	OPTION_WORD("program", struct request, reports.program),
	OPTION_OWN("reporter", struct request, reports.options.reporter,
		   report_options__take_reporter),
	OPTION_OWN("port", struct request, ports, switch_ports__take),
	OPTION_FLAG("all-copies", struct request, reports.options.all_copies),
	OPTION_OWN("postcards", struct request, reports.options.translation.port,
		   report_options__take_postcards),
	OPTION_OWN("rows", struct request, reports.options.translation.rows,
		   report_options__take_rows),
	OPTION_OWN("age", struct request, reports.options.translation.age_us,
		   report_options__take_age),
	OPTION_FLAG("bytes", struct request, counts_bytes),
	OPTION_FLAG("merge", struct request, merges),
	OPTION_FLAG("dry-run", struct request, is_dry),
	OPTION_FLAG("follow", struct request, follows),
	OPTION_OWN("requester", struct request, lookups.requester, lookup_push__take_requester),
	OPTION_OWN("outstanding", struct request, lookups.options,
		   lookup_options__take_outstanding),
	OPTION_OWN("timeout", struct request, lookups.options, lookup_options__take_timeout),
	OPTION_OWN("tries", struct request, lookups.options, lookup_options__take_tries),
	OPTION_OWN("mtu", struct request, lookups.options, lookup_options__take_mtu),
	OPTION_OWN("otherwise", struct request, lookups.options, lookup_options__take_otherwise),
	OPTION_WORD("digests", struct request, lookups.digests),
	OPTION_WORD("renew", struct request, lookups.renew),
	{}
};

static const struct option_row show_rows[] = { OPTION_WORD("target", struct request, target),
					       OPTION_WORD("thrift", struct request, thrift),
					       {} };

static int check(const struct request *request, const char *name)
{
	if (!request->target)
		return misuse("'%s' needs --target bmv2", name);
	if (!request->thrift == !request->reports.program)
		return misuse("'%s' needs --thrift, or --program to print commands", name);
	if (!request->thrift && request->is_dry)
		return misuse("--dry-run needs --thrift");
	if (request->follows && (!request->thrift || request->is_dry))
		return misuse("--follow needs --thrift and takes no --dry-run");
	return 0;
}

/* Refuses options that are for the other kind of files. */
static int check_kind(const struct request *request, enum push_kind kind)
{
	const struct report_push *reports = &request->reports;
	const struct report_translation *translation = &reports->options.translation;

	if (!translation->port && translation->rows)
		return misuse("--rows needs --postcards");
	if (!translation->port && !request->merges && translation->age_us)
		return misuse("--age needs --postcards or --merge");
	if (request->merges && kind != PUSH_SKETCH)
		return misuse("--merge is for files of sketches");
	if (request->merges && reports->options.reporter.s_addr == INADDR_ANY)
		return misuse("--merge needs --reporter, the address of the switch");
	if (translation->port && kind != PUSH_COLLECTORS)
		return misuse("--postcards is for files of collectors");
	if (request->counts_bytes && kind != PUSH_LEDGER)
		return misuse("--bytes is for files of ledgers");
	if (kind != PUSH_TABLES && lookup_push__is_given(&request->lookups))
		return misuse("--requester, --outstanding, --timeout, --tries, --mtu, --otherwise, --digests and --renew are for files of lookup tables");
	if (kind == PUSH_COLLECTORS)
		return 0;
	if (kind != PUSH_TABLES) {
		if (reports->program || reports->options.all_copies)
			return misuse("--program and --all-copies are for files of collectors");
		if (request->file_count > 1)
			return misuse("a switch has one ledger, journal or sketch, so push takes one file");
		return 0;
	}
	if (reports->program || reports->options.all_copies ||
	    reports->options.reporter.s_addr != INADDR_ANY)
		return misuse("--program and --all-copies are for files of collectors, --reporter also for ledgers, journals and sketches");
	if (request->lookups.digests && !request->follows)
		return misuse("--digests needs --follow");
	if (request->lookups.renew && !request->follows)
		return misuse("--renew needs --follow");
	return 0;
}

static int take_files(struct request *request, int argc, char **argv)
{
	if (optind == argc)
		return misuse("'%s' needs files of collectors, lookup tables, ledgers, journals or sketches", argv[0]);
	if (argc - optind > FILES_MAX)
		return misuse("'%s' takes at most %d files", argv[0], FILES_MAX);
	for (; optind < argc; optind++) {
		if (request->follows && !strcmp(argv[optind], "-"))
			return misuse("--follow needs files, not the standard input");
		request->files[request->file_count++] = strcmp(argv[optind], "-") ? argv[optind] :
										    "/dev/stdin";
	}
	return 0;
}

static int parse(struct options *options, int argc, char **argv, struct request *request)
{
	*request = (struct request){ .target = NULL };
	lookup_options__init(&request->lookups.options);
	return options__take(options, argc, argv, push_rows, request) ?:
		       check(request, argv[0])			      ?:
		       take_files(request, argc, argv);
}

/* Finds the kind of the first file.  The reader of collectors refuses files of neither kind. */
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

static int push_collectors(struct request *request, bool as_json)
{
	struct report_push *push = &request->reports;

	push->thrift = request->thrift;
	push->options.ports = request->ports;
	push->as_json = as_json;
	push->files = request->files;
	push->file_count = request->file_count;
	return request->follows ? report_push__follow(push) :
				  report_push__once(push, request->is_dry);
}

static int push_tables(struct request *request, bool as_json)
{
	struct lookup_push *push = &request->lookups;

	push->thrift = request->thrift;
	push->ports = request->ports;
	push->as_json = as_json;
	push->files = request->files;
	push->file_count = request->file_count;
	return request->follows ? switch_follow__run(push) :
				  lookup_push__once(push, request->is_dry);
}

/* A file of ledgers, journals or sketches. */
static int push_target(const struct request *request, enum push_kind kind, bool as_json)
{
	struct ledger_wish ledger = { .counts_bytes = request->counts_bytes };
	struct journal_wish journal = { .port = 0 };
	struct sketch_wish sketch = { .port = 0 };
	struct merge_wish merge = {
		.age_us = request->reports.options.translation.age_us ?: REPORT_AGE_US,
	};
	struct target_push push = {
		.thrift = request->thrift,
		.as_json = as_json,
		.peer = request->reports.options.reporter,
		.ports = request->ports,
		.file = request->files[0],
	};

	if (kind == PUSH_LEDGER)
		ledger_push__init(&push, &ledger);
	else if (kind == PUSH_JOURNAL)
		journal_push__init(&push, &journal);
	else if (request->merges)
		merge_push__init(&push, &merge);
	else
		sketch_push__init(&push, &sketch);
	return request->follows ? target_push__follow(&push) :
				  target_push__once(&push, request->is_dry);
}

static int push(struct options *options, int argc, char **argv)
{
	enum push_kind kind;
	struct request request;
	int ret;

	ret = parse(options, argc, argv, &request) ?: find_kind(&request, &kind) ?:
	      check_kind(&request, kind);
	if (ret)
		return ret;
	switch (kind) {
	case PUSH_TABLES:
		return push_tables(&request, options->json);
	case PUSH_LEDGER:
	case PUSH_JOURNAL:
	case PUSH_SKETCH:
		return push_target(&request, kind, options->json);
	default:
		return push_collectors(&request, options->json);
	}
}

static int show(struct options *options, int argc, char **argv)
{
	struct request request = {};
	int status;

	if (options__take(options, argc, argv, show_rows, &request))
		return EXIT_USAGE;
	if (!request.target || strcmp(request.target, "bmv2") || !request.thrift ||
	    !has_port(request.thrift))
		return misuse("'%s' needs --target bmv2 and --thrift HOST:PORT", argv[0]);
	if (optind < argc)
		return misuse("'%s' takes no names", argv[0]);
	if (ledger_status__show(request.thrift, options->json, &status) ||
	    report_status__show(request.thrift, options->json, &status) ||
	    switch_status__show(request.thrift, options->json, &status))
		return status;
	return lookup_status__show(request.thrift, options->json);
}

const struct command switch_commands[] = {
	{ "push",
	  "--target bmv2 --thrift HOST:PORT|--program FILE --port [ADDRESS=]PORT... [--reporter ADDRESS] [--all-copies] [--postcards PORT [--rows N] [--age TIME]] [--bytes] [--merge [--age TIME]] [--requester ADDRESS] [--outstanding N] [--timeout MICROSECONDS] [--tries N] [--mtu BYTES] [--otherwise [OUTCOME=]PORT]... [--digests ADDRESS] [--renew COMMAND] [--dry-run] [--follow] FILE...",
	  "configure the collectors, lookup tables, ledger, journal or sketch of a P4 switch, with --follow also later ones",
	  .parse = push },
	{ "show", "--target bmv2 --thrift HOST:PORT",
	  "print the activity of a P4 switch",
	  .parse = show },
	{ }
};
