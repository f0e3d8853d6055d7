// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <libdart/clock.h>

#include "namespace_list.h"

#define INTERVAL_NS 1000000000
/* One run lists all namespaces, however long it takes. */
#define BUDGET_NS 1000000000

/* Leaves the answer at the beginning of the output.  Returns 0 or -errno. */
static int ask(struct gather_programs *programs)
{
	const struct subject *subject = subject__find(DART_ZERO_SOURCE_TCP);
	struct gather_exchange *exchange = programs->exchange;
	struct dart_error error;
	int ret;

	ret = gather_programs__keep(programs, subject->program, &error);
	if (ret)
		return ret;
	exchange->count = 1;
	exchange->next = 0;
	exchange->used = 0;
	exchange->cursor = 0;
	exchange->budget_ns = BUDGET_NS;
	exchange->questions[0] = (struct gather_question){ .source = GATHER_NAMESPACES, .fd = -1 };
	ret = gather_programs__run(programs, subject->program);
	if (!ret && exchange->questions[0].answer != GATHER_VALUES)
		ret = -EAGAIN;
	return ret;
}

static const struct gather_namespace *answer_of(const struct gather_exchange *exchange)
{
	return (const void *)(exchange->output + exchange->questions[0].at);
}

static uint64_t hash_of(const struct gather_exchange *exchange)
{
	return XXH64(answer_of(exchange),
		     exchange->questions[0].rows * sizeof(struct gather_namespace), 0);
}

int namespace_list__read(struct namespace_list *list, struct gather_programs *programs,
			 bool is_watched, uint32_t **inodes, uint32_t *count)
{
	const struct gather_exchange *exchange = programs->exchange;
	uint32_t i;
	int ret;

	ret = ask(programs);
	if (ret)
		return ret;
	*count = exchange->questions[0].rows;
	*inodes = calloc(*count + 1, sizeof(**inodes));
	if (!*inodes)
		return -ENOMEM;
	for (i = 0; i < *count; i++)
		(*inodes)[i] = answer_of(exchange)[i].inode;
	list->seen = hash_of(exchange);
	list->is_watched = is_watched;
	return 0;
}

bool namespace_list__has_changed(struct namespace_list *list, struct gather_programs *programs)
{
	const uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	uint64_t seen;

	if (!list->is_watched || list->due > now)
		return false;
	list->due = now + INTERVAL_NS;
	if (ask(programs))
		return false;
	seen = hash_of(programs->exchange);
	if (seen == list->seen)
		return false;
	list->seen = seen;
	return true;
}
