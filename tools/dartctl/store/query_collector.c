// SPDX-License-Identifier: GPL-2.0-only
/* Asks one collector, see query.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/address.h>
#include <libdart/store/store_reader.h>

#include "answer.h"
#include "query.h"

int query__check(const struct query *query, const struct dart_store_geometry *geometry,
		 struct dart_error *error)
{
	if (query->schema->value.length > geometry->value_length)
		return dart_error__set(error, EINVAL,
				       "values of '%s' have %u bytes, but those of store '%s' %u",
				       query->schema_name, query->schema->value.length,
				       query->store, geometry->value_length);
	if (query->rule.consensus > geometry->redundancy)
		return dart_error__set(
			error, EINVAL,
			"a consensus of %u is impossible: the redundancy of store '%s' is %u",
			query->rule.consensus, query->store, geometry->redundancy);
	return 0;
}

int query__print(const struct query *query, const struct options *options,
		 const struct query_reply *reply, const char *collector)
{
	const struct answer answer = {
		.schema = query->schema,
		.geometry = reply->geometry,
		.rule = query->rule,
		.found = reply->found,
		.share = dart_store__share(query->key, query->key_length),
		.collector = collector,
	};

	return answer__print(&answer, options->json);
}

struct epochs_question query__of_epochs(const struct query *query, const char *from,
					uint64_t since_ns, uint64_t until_ns)
{
	return (struct epochs_question){
		.store = query->store,
		.from = from,
		.key = query->key,
		.key_length = query->key_length,
		.value_length = query->schema->value.length,
		.rule = query->rule,
		.since_ns = since_ns,
		.until_ns = until_ns,
	};
}

int query__ask_there(const struct query *query, const char *from, struct query_reply *reply,
		     struct dart_error *error)
{
	struct dart_store_reader *reader = NULL;
	struct dart_error reason;
	uint16_t port;
	char *host;
	int ret;

	ret = dart_address__parse(from, &host, &port);
	if (ret == -ENOMEM)
		return dart_error__no_memory(error);
	if (ret)
		return dart_error__set(error, EINVAL, "'%s' is not HOST or HOST:PORT", from);
	ret = dart_store_reader__open(host, port, query->store, &reader, &reason);
	if (ret) {
		dart_error__set(error, -ret, "cannot read store '%s' of %s: %s", query->store,
				from, reason.text);
		goto free_host;
	}
	reply->geometry = *dart_store_reader__geometry(reader);
	ret = query__check(query, &reply->geometry, error);
	if (ret)
		goto close;
	ret = dart_store_reader__query_batch(reader, query->key, query->key_length, 1, &query->rule,
					     &reply->found, &reason);
	if (ret)
		dart_error__set(error, -ret, "cannot read store '%s' of %s: %s", query->store,
				from, reason.text);
close:
	dart_store_reader__close(reader);
free_host:
	free(host);
	return ret;
}
