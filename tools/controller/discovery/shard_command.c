// SPDX-License-Identifier: GPL-2.0-only
/* Explains a shard: see shard_command.h. */
#include "shard_command.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/rdma/address.h>

#include "members_file.h"

static int print_json(const struct shard *shard, const char *name,
		      const unsigned int order[static SHARD_MEMBERS_MAX], unsigned int count)
{
	const unsigned int replication = shard->replication ?: 1;
	json_t *members = json_array(), *all;
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++)
		json_array_append_new(members, json_integer(order[i]));
	all = json_pack("{ss so si so}", "agent", name, "members", members, "replication",
			(int)replication, "member",
			shard->member ? json_integer(shard->member) : json_null());
	ret = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;
	json_decref(all);
	putchar('\n');
	return ret ? -ENOMEM : 0;
}

static void print_sentence(const struct shard *shard, const char *name,
			   const unsigned int order[static SHARD_MEMBERS_MAX], unsigned int count)
{
	const unsigned int replication = shard->replication ?: 1;
	unsigned int i;

	printf("%s: scraped by ", name);
	for (i = 0; i < count; i++) {
		if (i == replication)
			fputs("; if one is taken away, by ", stdout);
		else if (i)
			fputs(i == 1 ? "; on standby is " : ", ", stdout);
		printf("%s%u%s", i <= 1 || i == replication ? "member " : "", order[i],
		       order[i] == shard->member ? " (this one)" : "");
	}
	putchar('\n');
}

static int read_members(const char *path, struct member_list *list, struct dart_error *error)
{
	struct dart_error reason;
	const int ret = members_file__read(path, list, &reason);

	return ret ? dart_error__set(error, -ret, "%s: %s", path, reason.text) : 0;
}

int shard_command__run(const struct options *options)
{
	const struct settings *settings = &options->settings;
	const struct shard *shard = &settings->shard;
	unsigned int order[SHARD_MEMBERS_MAX], count;
	struct membership membership;
	struct dart_error error = {};
	struct member_list list;
	char *host, *name = NULL;
	uint16_t port;
	int ret;

	ret = settings__parse_agent(options->explained, &host, &port);
	if (ret == -EINVAL)
		dart_error__set(&error, EINVAL,
				"'%s' is not an agent (expected HOST, HOST:PORT or [V6]:PORT)",
				options->explained);
	if (!ret) {
		name = dart_address__name(host,
					  port ?: settings__default_port(settings->transport));
		free(host);
		ret = name ? 0 : -ENOMEM;
	}
	membership__begin(&membership, shard);
	if (!ret && shard->file) {
		ret = read_members(shard->file, &list, &error);
		if (!ret)
			membership__take(&membership, &list, 0);
	}
	if (!ret) {
		count = membership__order(&membership, name, order);
		if (options->json)
			ret = print_json(shard, name, order, count);
		else
			print_sentence(shard, name, order, count);
	}
	free(name);
	if (ret)
		fprintf(stderr, "dart-controller: %s\n", *error.text ? error.text : "out of memory");
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
