// SPDX-License-Identifier: GPL-2.0-only
/* dartctl xdp follow: keeps the collectors of an XDP reporter up to date. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libdart/escape.h>

#include "appender.h"
#include "merger.h"
#include "pins.h"
#include "tools/dartctl/cli/collectors_follow.h"
#include "tools/dartctl/cli/command.h"
#include "update.h"

struct followed {
	const char *interface;
	bool as_json;
	const char *path;	/* of the file of a journal or sketch; NULL: stores */
	const char *noun;	/* "journal", "sketch" or "store" */
	struct dart_journal_target journal;
	struct xdp_merger merger;
};

struct wanted {
	struct collectors_files files;
	const char *journal, *sketch;
};

static bool is_of(const struct followed *reporter, const char *noun)
{
	return !strcmp(reporter->noun, noun);
}

/* The verb before the noun. */
static const char *action_of(const struct followed *reporter)
{
	if (is_of(reporter, "journal"))
		return "appends";
	return is_of(reporter, "sketch") ? "writes sums" : "reports";
}

static void print_change(void *argument, uint32_t old_qpn, const struct dart_collector *collector)
{
	const struct followed *reporter = argument;
	char address[INET_ADDRSTRLEN], name[DART_ESCAPE_BYTES * sizeof(collector->name)];

	inet_ntop(AF_INET, &collector->ip, address, sizeof(address));
	/* The file is from another machine. */
	dart_escape__text(collector->name, sizeof(collector->name), DART_ESCAPE_SENTENCE, name,
			  sizeof(name));
	if (reporter->as_json)
		print_json(json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "interface",
				     reporter->interface, "store", collector->name, "address",
				     address, "qpn", (json_int_t)collector->qpn, "old_qpn",
				     (json_int_t)old_qpn, "epoch", (json_int_t)collector->epoch),
			   JSON_COMPACT);
	else if (collector->qpn == old_qpn)
		printf("%s reports to new memory of store %s of %s (queue pair %u, epoch %" PRIu64
		       ")\n",
		       reporter->interface, name, address, collector->qpn,
		       collector->epoch);
	else
		printf("%s %s to %s %s of %s at queue pair %u, not %u (epoch %" PRIu64 ")\n",
		       reporter->interface, action_of(reporter), reporter->noun, name, address,
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
	const struct xdp_targets targets = {
		.collectors = collectors,
		.journal = is_of(reporter, "journal") ? &reporter->journal : NULL,
		.sketch = is_of(reporter, "sketch") ? &reporter->merger.target : NULL,
	};
	uint32_t moved = 0;
	int ret;

	ret = xdp_update(reporter->interface, &targets, last, print_change, subject, &moved,
			 error);
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

/* Takes the queue pairs of sketchers over, too, because each may change alone. */
static int load_sketch(void *subject, const struct collectors_follow *follow,
		       struct dart_collectors *collectors, struct dart_error *error)
{
	struct followed *reporter = subject;
	int ret;

	ret = xdp_merger__load(reporter->path, follow->reporter, &reporter->merger, collectors,
			       error);
	if (ret)
		return ret;
	ret = xdp_merger__follow(reporter->interface, &reporter->merger, error);
	if (ret)
		dart_collectors__free(collectors);
	return ret;
}

static const struct option_row rows[] = {
	OPTION_OWN("collectors", struct wanted, files, collectors_files__take),
	OPTION_WORD("journal", struct wanted, journal),
	OPTION_WORD("sketch", struct wanted, sketch),
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
	if (argc - optind != 1 || !!wanted.files.count + !!wanted.journal + !!wanted.sketch != 1)
		return misuse("'%s' needs INTERFACE and --collectors FILE, --journal FILE or --sketch FILE",
			      argv[0]);
	follow.name = argv[optind];
	reporter = (struct followed){ follow.name, options->json,
				      .path = wanted.journal ?: wanted.sketch, .noun = "store" };
	follow.file_count = wanted.files.count;
	if (reporter.path) {
		follow.files = &reporter.path;
		follow.file_count = 1;
		follow.load = wanted.journal ? load_journal : load_sketch;
		reporter.noun = wanted.journal ? "journal" : "sketch";
	}
	if (geteuid())
		return fail(EPERM, "cannot change '%s': only root may", follow.name);
	if (!xdp_pins__is_name(follow.name))
		return fail(ENOENT, "no XDP reporter is attached to '%s'", follow.name);
	ret = xdp_update__find_source(follow.name, &follow.reporter, &error);
	if (ret)
		return fail(-ret, "cannot change '%s': %s", follow.name, error.text);
	return collectors_follow__run(&follow);
}
