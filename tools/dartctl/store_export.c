// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/store.h>

#include "client.h"
#include "command.h"
#include "store.h"

enum {
	OPTION_TARGET = OPTIONS_OWN,
	OPTION_REPORTER,
};

static const struct option export_options[] = {
	{ "target", required_argument, NULL, OPTION_TARGET },
	{ "reporter", required_argument, NULL, OPTION_REPORTER },
	{ }
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

/* The file that dart_collectors(5) describes, which XDP reporters read, too. */
static int print_json(json_t *collectors)
{
	json_t *file = json_pack("{s:i, s:O}", "dart_collectors", 1,
				 "collectors", collectors);
	int ret = json_dumpf(file, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);

	json_decref(file);
	if (ret)
		return fail("memory is short");
	putchar('\n');
	return EXIT_SUCCESS;
}

/*
 * Commands for simple_switch_CLI, of one reporter, who has one collector here:
 *
 *   table_add dart_share set_collector SHARE => COLLECTOR
 *   table_add dart_collector set_entry COLLECTOR =>
 *             MAC IP QPN RKEY BASE MASK REDUNDANCY
 *   register_write dart_psn COLLECTOR FIRST_PSN
 *
 * MASK: the number of slots - 1.
 */
static int print_bmv2(json_t *collectors)
{
	const char *mac, *ip, *base;
	json_int_t qpn, rkey, slots_log2, redundancy, first_psn;
	int share;

	if (json_array_size(collectors) != 1)
		return fail("there are %zu reporters (choose one with --reporter)",
			    json_array_size(collectors));
	if (json_unpack(json_array_get(collectors, 0),
			"{s:s, s:s, s:I, s:I, s:s, s:I, s:I, s:I}",
			"mac", &mac, "ip", &ip, "qpn", &qpn, "rkey", &rkey,
			"base", &base, "slots_log2", &slots_log2,
			"redundancy", &redundancy, "first_psn", &first_psn))
		return fail("the reply makes no sense");
	for (share = 0; share < DART_STORE_SHARES; share++)
		printf("table_add dart_share set_collector %d => 0\n", share);
	printf("table_add dart_collector set_entry 0 => %s %s %lld %lld %s 0x%" PRIx64 " %lld\n",
	       mac, ip, (long long)qpn, (long long)rkey, base,
	       (UINT64_C(1) << slots_log2) - 1, (long long)redundancy);
	printf("register_write dart_psn 0 %lld\n", (long long)first_psn);
	return EXIT_SUCCESS;
}

static const struct target {
	const char *name;
	int (*print)(json_t *collectors);
} targets[] = {
	{ "json", print_json },
	{ "xdp", print_json },
	{ "bmv2", print_bmv2 },
};

static const struct target *find_target(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	return NULL;
}

int store_export(struct options *options, int argc, char **argv)
{
	const struct target *target = &targets[0];
	const char *reporter = NULL;
	json_t *collectors, *reply;
	int option, fd, status;

	while ((option = options__next(options, argc, argv, export_options)) !=
	       -1) {
		if (option == '?')
			return EXIT_USAGE;
		if (option == OPTION_REPORTER)
			reporter = optarg;
		else
			target = find_target(optarg);
		if (!target)
			return misuse("there is no target '%s'", optarg);
	}
	if (argc - optind != 1)
		return misuse("'store export' needs one name");

	collectors = client__fetch(options,
				   json_pack("{s:s, s:s}", "request",
					     "store-export", "name",
					     argv[optind]),
				   -1, "collectors", &reply, &fd);
	if (!collectors)
		return EXIT_FAILURE;
	select_reporter(collectors, reporter);
	if (json_array_size(collectors))
		status = target->print(collectors);
	else if (reporter)
		status = fail("%s is no reporter of '%s'", reporter,
			      argv[optind]);
	else
		status = fail("'%s' has no reporters (see dartctl reporter add)",
			      argv[optind]);
	json_decref(reply);
	return status;
}
