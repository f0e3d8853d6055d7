// SPDX-License-Identifier: GPL-2.0-only
/* dartctl store and reporter: stores of dartd, and the addresses that may report to them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dart/store.h>
#include <libdart/settings/quantity.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/file.h"

/* The store to create; dartd refuses impossible ones. */
struct wanted {
	/* -1: not given */
	long long slots_log2, value, redundancy, checksum;
	const char *file;
};

static int take_slots(void *slots_log2, const char *text)
{
	const long long value = dart_quantity__logarithm(text, INT_MAX);

	*(long long *)slots_log2 = value;
	return value < 0 ? EXIT_USAGE : EXIT_SUCCESS;
}

static int take_number(void *member, const char *text)
{
	const long long value = options__number(text, LLONG_MAX);

	*(long long *)member = value;
	return value < 0 ? misuse("'%s' is not a number", text) : EXIT_SUCCESS;
}

static const struct option_row rows[] = {
	OPTION_OWN("slots", struct wanted, slots_log2, take_slots,
		   .form = "is a power of two such as 2^20"),
	OPTION_OWN("value", struct wanted, value, take_number),
	OPTION_OWN("redundancy", struct wanted, redundancy, take_number),
	OPTION_OWN("checksum", struct wanted, checksum, take_number),
	OPTION_WORD("file", struct wanted, file),
	{}
};

/* NULL if the number was not given. */
static json_t *optional(long long number)
{
	return number < 0 ? NULL : json_integer(number);
}

static int request(const struct options *options, const struct wanted *wanted,
		   const char *name, const char *file, int fd)
{
	return client__do(options,
			  json_pack("{s:s, s:s, s:I, s:I, s:o*, s:o*, s:s*}", "request",
				    "store-create", "name", name, "slots_log2",
				    (json_int_t)wanted->slots_log2, "value_length",
				    (json_int_t)wanted->value, "redundancy",
				    optional(wanted->redundancy), "checksum_bits",
				    optional(wanted->checksum), "file", file),
			  fd, "store");
}

static int create(struct options *options, int argc, char **argv)
{
	struct wanted wanted = { -1, -1, -1, -1, NULL };
	char file[PATH_MAX];
	bool is_new;
	int fd, status;

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'store create' needs one name");
	if (wanted.slots_log2 < 0 || wanted.value < 0)
		return misuse("'store create' needs --slots and --value");
	if (!wanted.file)
		return request(options, &wanted, argv[optind], NULL, -1);

	fd = file__open_memory(wanted.file, file, &is_new);
	if (fd < 0)
		return EXIT_FAILURE;
	status = request(options, &wanted, argv[optind], file, fd);
	if (status && is_new)
		unlink(file);
	close(fd);
	return status;
}

static const struct table_column columns[] = {
	TEXT_COLUMN("NAME", "name"),
	NUMBER_COLUMN("SLOTS 2^", "slots_log2"),
	NUMBER_COLUMN("VALUE", "value_length"),
	NUMBER_COLUMN("REDUNDANCY", "redundancy"),
	NUMBER_COLUMN("CHECKSUM", "checksum_bits"),
	NUMBER_COLUMN("BYTES", "bytes"),
	NUMBER_COLUMN("REPORTERS", "reporters"),
	NUMBER_COLUMN("READERS", "readers"),
	NUMBER_COLUMN("EPOCH", "epoch"),
	TEXT_COLUMN("FILE", "file"),
	{ }
};

const struct command store_commands[] = {
	{ "create",
	  "NAME --slots 2^N --value BYTES [--redundancy N] [--checksum BITS] [--file FILE]",
	  "reserve memory for reports of the network", .parse = create },
	{ "list", NULL, "list the stores",
	  .request = { "store-list", { }, "stores", columns } },
	{ "show", "STORE", "print the load of a store and the share of keys that are found",
	  .run = command_store_show, .least = 1, .most = 1 },
	{ "delete", "STORE", "delete a store with all its reports",
	  .request = { "store-delete", { "name" }, "store" },
	  .least = 1, .most = 1 },
	{ "export",
	  "STORE [--target json|xdp|bmv2] [--reporter ADDRESS] [--program FILE] [--port [ADDRESS=]PORT...] [--all-copies] [--watch FILE | --output FILE]",
	  "print the configuration for reporters, or keep a file of it up to date", .parse = command_store_export },
	{ }
};

/* ---- reporters */

static const struct table_column reporters[] = {
	TEXT_COLUMN("STORE", "store"),
	TEXT_COLUMN("REPORTER", "reporter"),
	NUMBER_COLUMN("QUEUE PAIR", "qpn"),
	{ }
};

const struct command reporter_commands[] = {
	{ "list", "[STORE]", "list the addresses that may report",
	  .request = { "reporter-list", { "store" }, "reporters", reporters },
	  .most = 1 },
	{ "add", "STORE ADDRESS", "accept reports from this IPv4 address",
	  .request = { "reporter-add", { "store", "address" }, "reporter" },
	  .least = 2, .most = 2 },
	{ "remove", "STORE ADDRESS", "stop accepting reports from it",
	  .request = { "reporter-remove", { "store", "address" }, "reporter" },
	  .least = 2, .most = 2 },
	/* Names that these commands had before the object xdp existed. */
	{ .name = "attach", .operands = "xdp attach" },
	{ .name = "detach", .operands = "xdp detach" },
	{ .name = "status", .operands = "xdp status" },
	{ }
};
