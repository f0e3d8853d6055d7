// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch push of a file with one target, see target_push.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "live.h"
#include "target_push.h"
#include "tools/dartctl/cli/collectors_follow.h"
#include "tools/dartctl/cli/command.h"

static int load(struct target_push *push, struct dart_error *error)
{
	struct switch_hosts hosts = {
		.noun = "collector",
		.place = "",
		.count = 1,
	};
	int ret;

	ret = push->load(push->wish, push->file, push->peer, error);
	if (ret)
		return ret;
	hosts.addresses[0] = push->collector->ip;
	return switch_ports__assign(&push->ports, &hosts, push->port, error);
}

static int push_wish(const struct target_push *push, bool is_dry, struct dart_error *error)
{
	const struct switch_push live = {
		.name = push->thrift,
		.kind = push->kind,
		.wish = push->wish,
		.is_dry = is_dry,
		.as_json = push->as_json,
	};

	return switch_live__push(&live, error);
}

int target_push__once(struct target_push *push, bool is_dry)
{
	struct dart_error error;
	int ret;

	ret = load(push, &error);
	if (ret)
		return fail(-ret, "cannot push: %s", error.text);
	ret = push_wish(push, is_dry, &error);
	return ret ? fail(-ret, "%s", error.text) : EXIT_SUCCESS;
}

/* ---- following */

static int load_followed(void *subject, const struct collectors_follow *follow,
			 struct dart_collectors *collectors, struct dart_error *error)
{
	struct target_push *push = subject;
	int ret;

	ret = load(push, error);
	if (ret)
		return ret;
	*collectors = (struct dart_collectors){
		.count = 1,
		.list = malloc(sizeof(*collectors->list)),
	};
	if (!collectors->list)
		return dart_error__no_memory(error);
	*collectors->list = *push->collector;
	return 0;
}

static int apply(void *subject, const struct dart_collectors *collectors,
		 const struct dart_collectors *last, struct dart_error *error)
{
	int ret;

	ret = push_wish(subject, false, error);
	fflush(stdout);
	return ret;
}

static bool is_lost(const void *subject)
{
	const struct target_push *push = subject;

	return switch_live__is_lost(push->thrift, push->kind);
}

int target_push__follow(struct target_push *push)
{
	const struct collectors_follow follow = {
		.name = push->thrift,
		.files = &push->file,
		.file_count = 1,
		.reporter = push->peer,
		.load = load_followed,
		.remedy = "push it without --follow first",
		.apply = apply,
		/* A switch may be restarted at any time, and no event tells of it. */
		.is_lost = is_lost,
		.subject = push,
		.retries = true,
	};

	return collectors_follow__run(&follow);
}
