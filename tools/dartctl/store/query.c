// SPDX-License-Identifier: GPL-2.0-only
/* dartctl query: prints the value of a key in the reports to a store. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>
#include <libdart/rdma/address.h>
#include <libdart/store/store_reader.h>

#include "answer.h"
#include "epochs.h"
#include "instant.h"
#include "store_map.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/key_options.h"
#include "tools/dartctl/cli/schemas.h"

/* Besides the fields of a key. */
#define OWN_OPTIONS 5

struct query {
	const char *store;
	const char *schema_name;
	struct dart_key_schema *schema;
	const char *from;	/* NULL: dartd of this host */
	/* ns since 1970; 0: not given */
	uint64_t at_ns, since_ns, until_ns;
	const char *texts[DART_KEY_FIELDS_MAX];	/* of the fields of the key */
	struct dart_store_rule rule;
	uint8_t key[DART_STORE_KEY_MAX];
	int key_length;
};

static int take_policy(void *member, const char *text)
{
	struct dart_store_rule *rule = member;

	rule->consensus = 0;
	if (!strcmp(text, "plurality")) {
		rule->policy = DART_STORE_PLURALITY;
	} else if (!strcmp(text, "unique")) {
		rule->policy = DART_STORE_UNIQUE;
	} else if (!strncmp(text, "consensus=", 10) && text[10] >= '1' &&
		   text[10] <= '0' + DART_STORE_REDUNDANCY_MAX && !text[11]) {
		rule->policy = DART_STORE_CONSENSUS;
		rule->consensus = text[10] - '0';
	} else {
		return misuse("'%s' is not a policy: plurality, unique or consensus=1 to %d", text,
			      DART_STORE_REDUNDANCY_MAX);
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

static int check_options(const struct query *query)
{
	if (query->at_ns && (query->since_ns || query->until_ns))
		return misuse("--at is one time, and --since and --until are another");
	if (query->until_ns && query->since_ns > query->until_ns)
		return misuse("--until is before --since");
	return EXIT_SUCCESS;
}

static int take_options(struct query *query, struct options *options, int argc, char **argv)
{
	struct option_row rows[OWN_OPTIONS + DART_KEY_FIELDS_MAX + 1] = {
		OPTION_WORD("from", struct query, from),
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

/* Refuses a query that does not fit the store. */
static int check(const struct query *query, const struct dart_store_geometry *geometry)
{
	if (query->schema->value.length > geometry->value_length)
		return fail(EINVAL, "values of '%s' have %u bytes, but those of store '%s' %u",
			    query->schema_name, query->schema->value.length, query->store,
			    geometry->value_length);
	if (query->rule.consensus > geometry->redundancy)
		return fail(EINVAL,
			    "a consensus of %u is impossible: the redundancy of store '%s' is %u",
			    query->rule.consensus, query->store, geometry->redundancy);
	return EXIT_SUCCESS;
}

static int print(const struct query *query, const struct options *options,
		 const struct dart_store_hash *hash, const struct dart_store_geometry *geometry,
		 const struct dart_store_answer *found)
{
	struct answer answer = {
		.schema = query->schema,
		.geometry = *geometry,
		.rule = query->rule,
		.found = *found,
		.collector = query->from,
	};
	struct dart_store_place place;

	dart_store_hash__place(hash, query->key, query->key_length, &place);
	answer.share = place.share;
	return answer__print(&answer, options->json);
}

/* -EAGAIN: the store has rotated meanwhile, and the memory is of another epoch. */
static int ask_once(const struct query *query, const struct options *options)
{
	const struct dart_store_geometry *geometry;
	struct dart_store_answer found;
	struct store_map map;
	int status;

	status = store_map__open(&map, options, query->store);
	if (status)
		return status;
	geometry = dart_store__geometry(map.store);
	status = check(query, geometry);
	if (status)
		goto close;
	dart_store__query(map.store, query->key, query->key_length, &query->rule, &found);
	status = store_map__is_valid(&map) ?
			 print(query, options, dart_store__hash(map.store), geometry, &found) :
			 -EAGAIN;
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
	const struct epochs_question question = {
		.store = query->store,
		.from = query->from,
		.key = query->key,
		.key_length = query->key_length,
		.value_length = query->schema->value.length,
		.rule = query->rule,
		.since_ns = query->at_ns ?: query->since_ns,
		/* The present epoch may begin while dartd answers. */
		.until_ns = query->at_ns ?: query->until_ns ?: INT64_MAX,
	};
	struct answer answer = {
		.schema = query->schema,
		.rule = query->rule,
		.collector = query->from,
	};
	struct epoch_answers epochs;
	int status;

	status = epochs__ask(options, &question, &epochs);
	answer.share = epochs.share;
	status = status ?: answer__print_epochs(&answer, &epochs, query->at_ns, options->json);
	epochs__free(&epochs);
	return status;
}

static int ask_there(const struct query *query, const struct options *options)
{
	const struct dart_store_geometry *geometry;
	struct dart_store_reader *reader = NULL;
	struct dart_store_answer found;
	struct dart_error error;
	uint16_t port;
	char *host;
	int ret, status;

	status = dart_address__parse(query->from, &host, &port);
	if (status)
		return status == -ENOMEM ? fail__out_of_memory() :
					   misuse("'%s' is not HOST or HOST:PORT", query->from);
	ret = dart_store_reader__open(host, port, query->store, &reader, &error);
	if (ret) {
		status = fail(-ret, "cannot read store '%s' of %s: %s",
			      query->store, query->from, error.text);
		goto out;
	}
	geometry = dart_store_reader__geometry(reader);
	status = check(query, geometry);
	if (status)
		goto out;
	ret = dart_store_reader__query_batch(reader, query->key, query->key_length, 1, &query->rule,
					     &found, &error);
	if (ret)
		status = fail(-ret, "cannot read store '%s' of %s: %s",
			      query->store, query->from, error.text);
	else
		status = print(query, options, dart_store_reader__hash(reader), geometry, &found);
out:
	dart_store_reader__close(reader);
	free(host);
	return status;
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
		status = query.at_ns || query.since_ns || query.until_ns ?
				 ask_epochs(&query, options) :
			 query.from ? ask_there(&query, options) :
				      ask_here(&query, options);
	dart_key_schema__free(query.schema);
	return status;
}
