// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <libdart/clock.h>

#include "namespace_list.h"

#define INTERVAL_NS 1000000000

/* Leaves the answer at the beginning of the output.  Returns 0 or -errno. */
static int ask(struct gather_programs *programs, struct dart_error *error)
{
	const struct subject *subject = subject__find(DART_ZERO_SOURCE_TCP);
	const struct gather_question question = { .source = GATHER_NAMESPACES, .fd = -1 };
	struct dart_error reason;
	int ret;

	ret = gather_programs__keep(programs, subject->program, &reason);
	if (ret)
		return dart_error__set(error, -ret, "cannot list the network namespaces: %s",
				       reason.text);
	ret = gather_programs__ask(programs, subject->program, &question);
	if (!ret && programs->exchange->questions[0].answer != GATHER_VALUES)
		ret = -EAGAIN;
	return ret ? dart_error__system(error, -ret, "cannot list the network namespaces") : 0;
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
	const struct gather_exchange *exchange;
	uint32_t i;
	int ret;

	ret = ask(programs, &list->why);
	if (ret)
		return ret;
	exchange = programs->exchange;
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
	struct dart_error error;
	uint64_t seen;

	if (!list->is_watched || list->due > now)
		return false;
	list->due = now + INTERVAL_NS;
	if (ask(programs, &error))
		return false;
	seen = hash_of(programs->exchange);
	if (seen == list->seen)
		return false;
	list->seen = seen;
	return true;
}

void namespace_list__free(struct namespace_list *list)
{
	free(list->confirmed);
}

static int by_inode(const void *a, const void *b)
{
	const struct gather_namespace *one = a, *other = b;

	return (one->inode > other->inode) - (one->inode < other->inode);
}

static int confirm_all(struct namespace_list *list, struct gather_programs *programs)
{
	const uint64_t now = dart_clock__ns(CLOCK_BOOTTIME);
	const struct gather_exchange *exchange;
	struct gather_namespace *room;
	struct dart_error error;
	uint32_t count;

	if (ask(programs, &error))
		return -EAGAIN;
	exchange = programs->exchange;
	count = exchange->questions[0].rows;
	room = reallocarray(list->confirmed, count + 1, sizeof(*room));
	if (!room)
		return -EAGAIN;
	memcpy(room, answer_of(exchange), count * sizeof(*room));
	qsort(room, count, sizeof(*room), by_inode);
	list->confirmed = room;
	list->count = count;
	list->time = now;
	return 0;
}

int namespace_list__confirm(struct namespace_list *list, struct gather_programs *programs,
			    uint32_t inode, uint32_t *identity, uint64_t time)
{
	const struct gather_namespace key = { .inode = inode };
	const struct gather_namespace *found;

	/* One list confirms all samples that were taken before it. */
	if (list->time <= time && confirm_all(list, programs))
		return -EAGAIN;
	found = bsearch(&key, list->confirmed, list->count, sizeof(key), by_inode);
	if (!found || (*identity && *identity != found->identity))
		return -ENODEV;
	*identity = found->identity;
	return 0;
}
