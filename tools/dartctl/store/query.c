// SPDX-License-Identifier: GPL-2.0-only
/* dartctl query: prints the value of a key in the reports to a store. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>
#include <libdart/rdma/address.h>

#include "answer.h"
#include "instant.h"
#include "query.h"
#include "store_map.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/key_options.h"
#include "tools/dartctl/cli/schemas.h"

/* Besides the fields of a key. */
#define OWN_OPTIONS 6

static int take_policy(void *member, const char *text)
{
	struct dart_store_rule *rule = member;

	rule->consensus = 0;
	if (!strcmp(text, "plurality")) {
		rule->policy = DART_STORE_PLURALITY;
	} else if (!strcmp(text, "unique")) {
		rule->policy = DART_STORE_UNIQUE;
	} else if (!strcmp(text, "merge")) {
		rule->policy = DART_STORE_MERGE;
	} else if (!strncmp(text, "consensus=", 10) && text[10] >= '1' &&
		   text[10] <= '0' + DART_STORE_REDUNDANCY_MAX && !text[11]) {
		rule->policy = DART_STORE_CONSENSUS;
		rule->consensus = text[10] - '0';
	} else {
		return misuse("'%s' is not a policy: plurality, unique, merge or consensus=1 to %d",
			      text, DART_STORE_REDUNDANCY_MAX);
	}
	return EXIT_SUCCESS;
}

static int take_instant(void *ns, const char *text)
{
	return instant__parse(text, dart_clock__ns(CLOCK_REALTIME), ns) ? EXIT_USAGE : EXIT_SUCCESS;
}

#define INSTANT(name, member)                                       \
	OPTION_OWN(name, struct query, member, take_instant,        \
		   .form = "is a time such as 2026-11-27T18:41:05Z, @1795804865 or \"5min ago\"")

static bool is_address(const char *text)
{
	uint16_t port;
	char *host;

	if (dart_address__parse(text, &host, &port))
		return false;
	free(host);
	return true;
}

static int check_options(const struct query *query)
{
	if (query->at_ns && (query->since_ns || query->until_ns))
		return misuse("--at is one time, and --since and --until are another");
	if (query->until_ns && query->since_ns > query->until_ns)
		return misuse("--until is before --since");
	if (query->from && !is_address(query->from))
		return misuse("'%s' is not HOST or HOST:PORT", query->from);
	if (query->from && query->shares)
		return misuse("--from is one collector, and --shares names all");
	return EXIT_SUCCESS;
}

static int take_options(struct query *query, struct options *options, int argc, char **argv)
{
	struct option_row rows[OWN_OPTIONS + DART_KEY_FIELDS_MAX + 1] = {
		OPTION_WORD("from", struct query, from),
		OPTION_WORD("shares", struct query, shares),
		OPTION_OWN("policy", struct query, rule, take_policy),
		INSTANT("at", at_ns),
		INSTANT("since", since_ns),
		INSTANT("until", until_ns),
	};

	key_options__rows(query->schema, offsetof(struct query, texts), rows + OWN_OPTIONS);
	optind = 0;
	if (options__take(options, argc, argv, rows, query))
		return EXIT_USAGE;
	if (optind < argc)
		return misuse("'query' takes a store and a schema, not '%s' as well", argv[optind]);
	return check_options(query);
}

/* ---- this host */

/* -EAGAIN: the store has rotated meanwhile, and the memory is of another epoch. */
static int ask_once(const struct query *query, const struct options *options)
{
	struct query_reply reply;
	struct dart_error error;
	struct store_map map;
	int status;

	status = store_map__open(&map, options, query->store);
	if (status)
		return status;
	reply.geometry = *dart_store__geometry(map.store);
	if (query__check(query, &reply.geometry, &error)) {
		status = fail(EINVAL, "%s", error.text);
		goto close;
	}
	dart_store__query(map.store, query->key, query->key_length, &query->rule, &reply.found);
	status = store_map__is_valid(&map) ? query__print(query, options, &reply, NULL) : -EAGAIN;
close:
	store_map__close(&map);
	return status;
}

static int ask_here(const struct query *query, const struct options *options)
{
	int status;

	do
		status = ask_once(query, options);
	while (status == -EAGAIN);
	return status;
}

static int ask_epochs(const struct query *query, const struct options *options)
{
	/* The present epoch may begin while dartd answers. */
	const struct epochs_question question =
		query__of_epochs(query, query->from, query->at_ns ?: query->since_ns,
				 query->at_ns ?: query->until_ns ?: INT64_MAX);
	const struct answer answer = {
		.schema = query->schema,
		.rule = query->rule,
		.collector = query->from,
		.share = dart_store__share(query->key, query->key_length),
	};
	struct epoch_answers epochs;
	int status;

	status = epochs__ask(options, &question, &epochs) ?:
			 answer__print_epochs(&answer, &epochs, query->at_ns, options->json);
	epochs__free(&epochs);
	return status;
}

static int ask_there(const struct query *query, const struct options *options)
{
	struct query_reply reply;
	struct dart_error error;
	int ret = query__ask_there(query, query->from, &reply, &error);

	return ret ? fail(-ret, "%s", error.text) :
		     query__print(query, options, &reply, query->from);
}

int command_query(struct options *options, int argc, char **argv)
{
	struct query query = { .rule.policy = DART_STORE_PLURALITY };
	int status;

	status = key_options__take_operand(options, &argc, &argv);
	if (status)
		return status;
	if (!argc)
		return misuse("'query' needs the name of a store, and a schema");
	query.store = argv[0];
	status = key_options__take_operand(options, &argc, &argv);
	if (status)
		return status;
	if (!argc)
		return key_options__refuse("query", query.store);
	query.schema_name = argv[0];

	query.schema = schemas__load(query.schema_name);
	if (!query.schema)
		return EXIT_FAILURE;
	status = take_options(&query, options, argc, argv);
	status = status ?: key_options__make(query.schema, query.schema_name, query.texts,
					     query.key, &query.key_length);
	if (!status)
		status = query.shares		     ? query__ask_owners(&query, options) :
			 query__is_of_past(&query)   ? ask_epochs(&query, options) :
			 query.from		     ? ask_there(&query, options) :
						       ask_here(&query, options);
	dart_key_schema__free(query.schema);
	return status;
}
