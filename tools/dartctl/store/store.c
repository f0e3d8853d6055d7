// SPDX-License-Identifier: GPL-2.0-only
/* dartctl store and reporter: stores of dartd, and the addresses that may report to them. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/store.h>
#include <libdart/settings/quantity.h>

#include "instant.h"
#include "tools/dartctl/cli/command.h"

/* The store to create; dartd refuses impossible ones. */
struct wanted {
	/* -1: not given */
	long long slots_log2, value, redundancy, checksum;
	const char *file;
	/* Of a store with epochs; 0 or NULL: not given. */
	uint64_t epoch_ns, epoch_reports, keep_ns, keep_bytes;
	const char *schema;
	bool falls;
	const char *transport;
};

/* "1min", or a number of reports. */
static int take_epoch(void *member, const char *text)
{
	struct wanted *wanted = member;

	wanted->epoch_ns = wanted->epoch_reports = 0;
	if (!dart_quantity__parse(DART_QUANTITY_TIME, text, 1, INT64_MAX, &wanted->epoch_ns) ||
	    !dart_quantity__parse(DART_QUANTITY_NUMBER, text, 1, INT64_MAX,
				  &wanted->epoch_reports))
		return EXIT_SUCCESS;
	return EXIT_USAGE;
}

static int take_time(void *member, const char *text)
{
	return dart_quantity__parse(DART_QUANTITY_TIME, text, 1, INT64_MAX, member) ? EXIT_USAGE :
										       EXIT_SUCCESS;
}

static int take_bytes(void *member, const char *text)
{
	return dart_quantity__parse(DART_QUANTITY_BYTES, text, 1, INT64_MAX, member) ?
		       EXIT_USAGE :
		       EXIT_SUCCESS;
}

static int take_number(void *member, const char *text)
{
	const long long value = options__number(text, LLONG_MAX);

	*(long long *)member = value;
	return value < 0 ? misuse("'%s' is not a number", text) : EXIT_SUCCESS;
}

static const struct option_row rows[] = {
	OPTION_OWN("slots", struct wanted, slots_log2, options__take_power,
		   .form = "is a power of two such as 2^20"),
	OPTION_OWN("value", struct wanted, value, take_number),
	OPTION_OWN("redundancy", struct wanted, redundancy, take_number),
	OPTION_OWN("checksum", struct wanted, checksum, take_number),
	OPTION_WORD("file", struct wanted, file),
	{ .name = "epoch", .take = take_epoch,
	  .form = "is a time such as 1min, or a number of reports" },
	OPTION_OWN("keep", struct wanted, keep_ns, take_time, .form = "is a time such as 1440min"),
	OPTION_OWN("keep-bytes", struct wanted, keep_bytes, take_bytes,
		   .form = "is a size such as 10G"),
	OPTION_WORD("schema", struct wanted, schema),
	OPTION_FLAG("falling", struct wanted, falls),
	OPTION_WORD("transport", struct wanted, transport),
	{}
};

/* NULL if it was not given. */
static json_t *given(uint64_t number)
{
	return number ? json_integer(number) : NULL;
}

static int request(const struct options *options, const struct wanted *wanted, const char *name)
{
	return client__create(
		options,
		json_pack("{s:s, s:s, s:I, s:I, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:s*, s:o*, s:s*}",
			  "request", "store-create", "name", name, "slots_log2",
			  (json_int_t)wanted->slots_log2, "value_length",
			  (json_int_t)wanted->value, "redundancy",
			  client__optional(wanted->redundancy), "checksum_bits",
			  client__optional(wanted->checksum), "epoch_ns", given(wanted->epoch_ns),
			  "epoch_reports", given(wanted->epoch_reports), "keep_ns",
			  given(wanted->keep_ns), "keep_bytes", given(wanted->keep_bytes),
			  "schema", wanted->schema, "falling",
			  wanted->falls ? json_true() : NULL, "transport", wanted->transport),
		wanted->file, "store");
}

static int create(struct options *options, int argc, char **argv)
{
	struct wanted wanted = {
		.slots_log2 = -1, .value = -1, .redundancy = -1, .checksum = -1,
	};

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'store create' needs one name");
	if (wanted.slots_log2 < 0 || wanted.value < 0)
		return misuse("'store create' needs --slots and --value");
	return request(options, &wanted, argv[optind]);
}

/* "SINCE to UNTIL in memory" */
static int store_epochs__print(json_t *epochs)
{
	char since[INSTANT_MAX], until[INSTANT_MAX];
	json_int_t since_ns, until_ns;
	json_t *epoch, *end;
	const char *in;
	size_t i;

	json_array_foreach(epochs, i, epoch) {
		if (json_unpack(epoch, "{s:I, s:o, s:s}", "since_ns", &since_ns, "until_ns", &end,
				"in", &in))
			return fail(EPROTO, "dartd sent an epoch of another form");
		until_ns = json_integer_value(end);
		strcpy(until, "now");
		instant__print(since_ns, since);
		if (until_ns)
			instant__print(until_ns, until);
		printf("%s to %s in ", since, until);
		print_foreign(stdout, in);
		putchar('\n');
	}
	return EXIT_SUCCESS;
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
	  "NAME --slots 2^N --value BYTES [--redundancy N] [--checksum BITS] [--transport uc|rc|auto] [--file FILE] [--epoch TIME|REPORTS [--keep TIME] [--keep-bytes SIZE] [--schema SCHEMA] [--falling]]",
	  "reserve memory for reports of the network", .parse = create },
	{ "list", NULL, "list the stores",
	  .request = { "store-list", { }, "stores", columns } },
	{ "show", "STORE", "print the load of a store and the share of keys that are found",
	  .run = command_store_show, .least = 1, .most = 1 },
	{ "epochs", "STORE", "list the epochs of a store, in memory and in files",
	  .request = { "epoch-list", { "name" }, "epochs", .print = store_epochs__print },
	  .least = 1, .most = 1 },
	{ "rotate", "STORE", "end the present epoch of a store now",
	  .request = { "store-rotate", { "name" }, "epochs" },
	  .least = 1, .most = 1 },
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
	TEXT_COLUMN("TRANSPORT", "transport"),
	TEXT_COLUMN("STATE", "state"),
	NUMBER_COLUMN("EXPECTED PSN", "expected_psn"),
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
