// SPDX-License-Identifier: GPL-2.0-only
/* dartctl xdp follow: keeps the collectors of an XDP reporter up to date. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "pins.h"
#include "tools/dartctl/cli/collectors_follow.h"
#include "tools/dartctl/cli/command.h"
#include "update.h"

struct followed {
	const char *interface;
	bool as_json;
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
		printf("%s reports to store %s of %s at queue pair %u, not %u (epoch %" PRIu64
		       ")\n",
		       reporter->interface, collector->name, address,
		       collector->qpn, old_qpn, collector->epoch);
	fflush(stdout);
}

static int apply(void *subject, const struct dart_collectors *collectors,
		 const struct dart_collectors *last, struct dart_error *error)
{
	const struct followed *reporter = subject;

	return xdp_update(reporter->interface, collectors, last, print_change, subject, error);
}

static const struct option_row rows[] = { { .name = "collectors", .take = collectors_files__take }, {} };

int command_xdp_follow(struct options *options, int argc, char **argv)
{
	struct collectors_files files = {};
	struct followed reporter;
	struct collectors_follow follow = {
		.files = files.paths,
		.remedy = "detach the reporter and attach it again",
		.apply = apply,
		.subject = &reporter,
	};
	struct dart_error error;
	int ret;

	if (options__take(options, argc, argv, rows, &files))
		return EXIT_USAGE;
	if (argc - optind != 1 || !files.count)
		return misuse("'%s' needs INTERFACE and --collectors FILE", argv[0]);
	follow.file_count = files.count;
	follow.name = argv[optind];
	reporter = (struct followed){ follow.name, options->json };
	if (geteuid())
		return fail(EPERM, "cannot change '%s': only root may", follow.name);
	if (!xdp_pins__is_name(follow.name))
		return fail(ENOENT, "no XDP reporter is attached to '%s'", follow.name);
	ret = xdp_update__find_source(follow.name, &follow.reporter, &error);
	if (ret)
		return fail(-ret, "cannot change '%s': %s", follow.name, error.text);
	return collectors_follow__run(&follow);
}
