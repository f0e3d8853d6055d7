// SPDX-License-Identifier: GPL-2.0-only
/* dartctl switch push of collectors, see push.h. */
#include <stdio.h>

#include "commands.h"
#include "kind.h"
#include "push.h"
#include "tools/dartctl/cli/collectors_follow.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/switch/engine/live.h"

static int push_wish(const struct report_push *push, const struct report_wish *wish, bool is_dry,
		     struct dart_error *error)
{
	const struct switch_push live = {
		.name = push->thrift,
		.kind = report_kind__of(wish),
		.wish = wish,
		.is_dry = is_dry,
		.as_json = push->as_json,
	};

	return switch_live__push(&live, error);
}

int report_push__once(const struct report_push *push, bool is_dry)
{
	struct report_wish wish;
	struct dart_error error;
	int ret;

	ret = report_wish__load(&wish, push->files, push->file_count, &push->options, &error);
	if (ret)
		return fail(-ret, "cannot push: %s", error.text);
	if (push->thrift) {
		ret = push_wish(push, &wish, is_dry, &error);
		if (ret)
			ret = fail(-ret, "%s", error.text);
	} else {
		ret = report_commands__print(push->program, &wish);
	}
	dart_collectors__free(&wish.collectors);
	return ret;
}

static int apply(void *subject, const struct dart_collectors *collectors,
		 const struct dart_collectors *last, struct dart_error *error)
{
	const struct report_push *push = subject;
	struct report_wish wish = { .collectors = *collectors };
	int ret;

	ret = report_wish__complete(&wish, &push->options, error) ?:
	      push_wish(push, &wish, false, error);
	fflush(stdout);
	return ret;
}

static bool is_lost(const void *subject)
{
	const struct report_push *push = subject;
	const struct report_wish wish = { .translation = push->options.translation };

	return switch_live__is_lost(push->thrift, report_kind__of(&wish));
}

int report_push__follow(struct report_push *push)
{
	const struct collectors_follow follow = {
		.name = push->thrift,
		.files = push->files,
		.file_count = push->file_count,
		.reporter = push->options.reporter,
		.remedy = "push them without --follow first",
		.apply = apply,
		/* A switch may be restarted at any time, and no event tells of it. */
		.is_lost = is_lost,
		.subject = push,
		.retries = true,
	};

	return collectors_follow__run(&follow);
}
