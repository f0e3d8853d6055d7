// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch push of lookup tables, see push.h. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "kind.h"
#include "push.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/engine/live.h"

int lookup_push__take_requester(void *address, const char *text)
{
	struct in_addr *requester = address;

	if (inet_pton(AF_INET, text, requester) != 1 || requester->s_addr == INADDR_ANY)
		return misuse("'%s' is not an IPv4 address of a switch", text);
	return 0;
}

bool lookup_push__is_given(const struct lookup_push *push)
{
	return push->options.is_given || push->digests || push->renew ||
	       push->requester.s_addr != INADDR_ANY;
}

int lookup_push__wish(const struct lookup_push *push, struct lookup_wish *wish,
		      struct dart_error *error)
{
	int ret;

	ret = dart_tea_tables__load(push->files, push->file_count, push->requester, &wish->tables,
				    error);
	if (ret)
		return ret;
	wish->options = push->options;
	wish->keeps_cache = false;
	ret = lookup_wish__complete(wish, &push->ports, error);
	if (ret)
		dart_tea_tables__free(&wish->tables);
	return ret;
}

int lookup_push__push(const struct lookup_push *push, const struct lookup_wish *wish,
		      const struct dart_tea_tables *last, bool is_dry, struct dart_error *error)
{
	const struct switch_push live = {
		.name = push->thrift,
		.kind = &lookup_kind,
		.wish = wish,
		.last = last,
		.is_dry = is_dry,
		.as_json = push->as_json,
	};

	return switch_live__push(&live, error);
}

void lookup_push__warn(const struct lookup_wish *wish)
{
	const uint32_t count = dart_tea_tables__uncovered(&wish->tables);

	if (count)
		fprintf(stderr,
			"dartctl: %u of %d shares of table '%s' have no server: the switch finds no entries for their keys\n",
			count, DART_TEA_SHARES, wish->tables.name);
}

int lookup_push__once(const struct lookup_push *push, bool is_dry)
{
	struct lookup_wish wish;
	struct dart_error error;
	int ret;

	ret = lookup_push__wish(push, &wish, &error);
	if (ret)
		return fail(-ret, "cannot push: %s", error.text);
	lookup_push__warn(&wish);
	ret = lookup_push__push(push, &wish, NULL, is_dry, &error);
	dart_tea_tables__free(&wish.tables);
	return ret ? fail(-ret, "%s", error.text) : EXIT_SUCCESS;
}
