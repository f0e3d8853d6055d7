// SPDX-License-Identifier: GPL-2.0-only
/* dartctl reporter: which addresses may report to the stores of dartd. */
#include "client.h"
#include "command.h"

static int request(const struct options *options, const char *request,
		   char **argv)
{
	return client__do(options,
			  json_pack("{s:s, s:s, s:s}", "request", request,
				    "store", argv[0], "address", argv[1]),
			  -1, "reporter");
}

static int add(const struct options *options, int argc, char **argv)
{
	return request(options, "reporter-add", argv);
}

static int remove_one(const struct options *options, int argc, char **argv)
{
	return request(options, "reporter-remove", argv);
}

static const struct table_column columns[] = {
	{ "STORE", "store", false, NULL },
	{ "REPORTER", "reporter", false, NULL },
	{ "QUEUE PAIR", "qpn", true, NULL },
	{ }
};

static int list(const struct options *options, int argc, char **argv)
{
	return client__list(options,
			    json_pack("{s:s, s:s*}", "request", "reporter-list",
				      "store", argv[0]),
			    "reporters", columns);
}

const struct command reporter_commands[] = {
	{ "list", "[STORE]", "from which addresses reports are taken",
	  .run = list, .most = 1 },
	{ "add", "STORE ADDRESS", "take reports from this IPv4 address",
	  .run = add, .least = 2, .most = 2 },
	{ "remove", "STORE ADDRESS", "take reports from it no longer",
	  .run = remove_one, .least = 2, .most = 2 },
	/* Names of the time before the object xdp. */
	{ .name = "attach", .operands = "xdp attach" },
	{ .name = "detach", .operands = "xdp detach" },
	{ .name = "status", .operands = "xdp status" },
	{ }
};
