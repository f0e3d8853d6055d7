// SPDX-License-Identifier: GPL-2.0-only
/* dartctl xdp follow: keeps the collectors of an XDP reporter up to date. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "appender.h"
#include "pins.h"
#include "tools/dartctl/cli/collectors_follow.h"
#include "tools/dartctl/cli/command.h"
#include "update.h"

struct followed {
	const char *interface;
	bool as_json;
	const char *path;	/* of the file of a journal; NULL: stores */
	struct dart_journal_target journal;
};

struct wanted {
	struct collectors_files files;
	const char *journal;
};

static void print_change(void *argument, uint32_t old_qpn, const struct dart_collector *collector)
{
	const struct followed *reporter = argument;
	char address[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &collector->ip, address, sizeof(address));
	if (reporter->as_json)
		print_json(json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "interface",
				     reporter->interface, "store", collector->name, "address",
				     address, "qpn", (json_int_t)collector->qpn, "old_qpn",
				     (json_int_t)old_qpn, "epoch", (json_int_t)collector->epoch),
			   JSON_COMPACT);
	else if (collector->qpn == old_qpn)
		printf("%s reports to new memory of store %s of %s (queue pair %u, epoch %" PRIu64
		       ")\n",
		       reporter->interface, collector->name, address, collector->qpn,
		       collector->epoch);
	else
		printf("%s %s %s of %s at queue pair %u, not %u (epoch %" PRIu64 ")\n",
		       reporter->interface,
		       reporter->path ? "appends to journal" : "reports to store", collector->name,
		       address,
		       collector->qpn, old_qpn, collector->epoch);
	fflush(stdout);
}

static void print_moved(const struct followed *reporter, uint32_t moved)
{
	if (reporter->as_json)
		print_json(json_pack("{s:s, s:I}", "interface", reporter->interface, "moved_shares",
				     (json_int_t)moved), JSON_COMPACT);
	else
		printf("%s reports %u shares to other collectors\n", reporter->interface, moved);
	fflush(stdout);
}

static int apply(void *subject, const struct dart_collectors *collectors,
		 const struct dart_collectors *last, struct dart_error *error)
{
	const struct followed *reporter = subject;

	uint32_t moved = 0;
	int ret;

	ret = xdp_update(reporter->interface, collectors,
			 reporter->path ? &reporter->journal : NULL, last, print_change, subject,
			 &moved, error);
	if (!ret && moved)
		print_moved(reporter, moved);
	return ret;
}

static int load_journal(void *subject, const struct collectors_follow *follow,
			struct dart_collectors *collectors, struct dart_error *error)
{
	struct followed *reporter = subject;

	return xdp_appender__load(reporter->path, follow->reporter, &reporter->journal, collectors,
				  error);
}

static const struct option_row rows[] = {
	OPTION_OWN("collectors", struct wanted, files, collectors_files__take),
	OPTION_WORD("journal", struct wanted, journal),
	{}
};

int command_xdp_follow(struct options *options, int argc, char **argv)
{
	struct wanted wanted = {};
	struct followed reporter;
	struct collectors_follow follow = {
		.files = wanted.files.paths,
		.remedy = "detach the reporter and attach it again",
		.apply = apply,
		.subject = &reporter,
	};
	struct dart_error error;
	int ret;

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1 || !wanted.files.count == !wanted.journal)
		return misuse("'%s' needs INTERFACE and --collectors FILE or --journal FILE",
			      argv[0]);
	follow.file_count = wanted.files.count;
	if (wanted.journal) {
		follow.files = &wanted.journal;
		follow.file_count = 1;
		follow.load = load_journal;
	}
	follow.name = argv[optind];
	reporter = (struct followed){ follow.name, options->json, .path = wanted.journal };
	if (geteuid())
		return fail(EPERM, "cannot change '%s': only root may", follow.name);
	if (!xdp_pins__is_name(follow.name))
		return fail(ENOENT, "no XDP reporter is attached to '%s'", follow.name);
	ret = xdp_update__find_source(follow.name, &follow.reporter, &error);
	if (ret)
		return fail(-ret, "cannot change '%s': %s", follow.name, error.text);
	return collectors_follow__run(&follow);
}
