// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch push of a ledger, see push.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kind.h"
#include "push.h"
#include "state.h"
#include "tools/dartctl/cli/collectors_follow.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/engine/live.h"

static int load(const struct ledger_push *push, struct ledger_wish *wish, struct dart_error *error)
{
	struct switch_hosts hosts = {
		.noun = "collector",
		.place = "",
		.count = 1,
	};
	int ret;

	*wish = (struct ledger_wish){ .counts_bytes = push->counts_bytes };
	ret = dart_ledger_target__load(push->file, push->adder, &wish->target, error);
	if (ret)
		return ret;
	hosts.addresses[0] = wish->target.collector.ip;
	return switch_ports__assign(&push->ports, &hosts, &wish->port, error);
}

static int push_wish(const struct ledger_push *push, const struct ledger_wish *wish, bool is_dry,
		     struct dart_error *error)
{
	const struct switch_push live = {
		.name = push->thrift,
		.kind = &ledger_kind,
		.wish = wish,
		.is_dry = is_dry,
		.as_json = push->as_json,
	};

	return switch_live__push(&live, error);
}

int ledger_push__once(const struct ledger_push *push, bool is_dry)
{
	struct ledger_wish wish;
	struct dart_error error;
	int ret;

	ret = load(push, &wish, &error);
	if (ret)
		return fail(-ret, "cannot push: %s", error.text);
	ret = push_wish(push, &wish, is_dry, &error);
	return ret ? fail(-ret, "%s", error.text) : EXIT_SUCCESS;
}

/* ---- following */

struct followed {
	const struct ledger_push *push;
	struct ledger_wish wish; /* of the last look at the file */
};

static int load_followed(void *subject, const struct collectors_follow *follow,
			 struct dart_collectors *collectors, struct dart_error *error)
{
	struct followed *followed = subject;
	int ret;

	ret = load(followed->push, &followed->wish, error);
	if (ret)
		return ret;
	*collectors = (struct dart_collectors){
		.count = 1,
		.list = malloc(sizeof(*collectors->list)),
	};
	if (!collectors->list)
		return dart_error__no_memory(error);
	*collectors->list = followed->wish.target.collector;
	return 0;
}

static int apply(void *subject, const struct dart_collectors *collectors,
		 const struct dart_collectors *last, struct dart_error *error)
{
	const struct followed *followed = subject;
	int ret;

	ret = push_wish(followed->push, &followed->wish, false, error);
	fflush(stdout);
	return ret;
}

int ledger_push__follow(struct ledger_push *push)
{
	struct followed followed = { .push = push };
	const struct collectors_follow follow = {
		.name = push->thrift,
		.files = &push->file,
		.file_count = 1,
		.reporter = push->adder,
		.load = load_followed,
		.remedy = "push it without --follow first",
		.apply = apply,
		.subject = &followed,
		/* A switch may be restarted at any time, and no event tells of it. */
		.retries = true,
	};

	return collectors_follow__run(&follow);
}
