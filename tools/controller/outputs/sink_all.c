// SPDX-License-Identifier: GPL-2.0-only
/* Passes samples on to several sinks. */
#include "sink_all.h"

#include <stdlib.h>

struct sink_all {
	struct sink sink;
	size_t count;
	struct sink *sinks[];
};

static int pass_sample(struct sink *sink, const struct target_settings *target,
		       const struct sample *sample, const struct latency *decoded)
{
	struct sink_all *all = (struct sink_all *)sink;
	int err = 0, ret;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (sample->is_partial && !all->sinks[i]->takes_parts)
			continue;
		ret = all->sinks[i]->operations->sample(all->sinks[i], target, sample, decoded);
		err = err ?: ret;
	}
	return err;
}

static int pass_loss(struct sink *sink, const struct target_settings *target, const char *reason)
{
	struct sink_all *all = (struct sink_all *)sink;
	int err = 0, ret;
	size_t i;

	for (i = 0; i < all->count; i++) {
		ret = all->sinks[i]->operations->lost(all->sinks[i], target, reason);
		err = err ?: ret;
	}
	return err;
}

static int pass_down(struct sink *sink, const struct target_settings *target, int64_t time_ns,
		     const char *reason)
{
	struct sink_all *all = (struct sink_all *)sink;
	int err = 0, ret;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (!all->sinks[i]->operations->down)
			continue;
		ret = all->sinks[i]->operations->down(all->sinks[i], target, time_ns, reason);
		err = err ?: ret;
	}
	return err;
}

static int pass_summary(struct sink *sink, const struct target_settings *target,
			const struct summary *summary, bool is_last)
{
	struct sink_all *all = (struct sink_all *)sink;
	int err = 0, ret;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (!all->sinks[i]->operations->summary)
			continue;
		ret = all->sinks[i]->operations->summary(all->sinks[i], target, summary, is_last);
		err = err ?: ret;
	}
	return err;
}

static void add_target(struct sink *sink, const struct target_settings *target)
{
	struct sink_all *all = (struct sink_all *)sink;
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->sinks[i]->operations->added)
			all->sinks[i]->operations->added(all->sinks[i], target);
}

static void remove_target(struct sink *sink, const struct target_settings *target)
{
	struct sink_all *all = (struct sink_all *)sink;
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->sinks[i]->operations->removed)
			all->sinks[i]->operations->removed(all->sinks[i], target);
}

static void sink_all__free(struct sink *sink)
{
	struct sink_all *all = (struct sink_all *)sink;
	size_t i;

	for (i = 0; i < all->count; i++)
		all->sinks[i]->operations->free(all->sinks[i]);
	free(all);
}

static const struct sink_operations sink_all_operations = {
	.sample = pass_sample,
	.lost = pass_loss,
	.down = pass_down,
	.summary = pass_summary,
	.added = add_target,
	.removed = remove_target,
	.free = sink_all__free,
};

struct sink *sink_all__new(struct sink *const *sinks, size_t count)
{
	struct sink_all *all = calloc(1, sizeof(*all) + count * sizeof(*sinks));
	size_t i;

	for (i = 0; i < count; i++) {
		if (!all) {
			sinks[i]->operations->free(sinks[i]);
			continue;
		}
		all->sinks[i] = sinks[i];
		all->sink.owns_terminal |= sinks[i]->owns_terminal;
		all->sink.compares |= sinks[i]->compares;
		all->sink.takes_parts |= sinks[i]->takes_parts;
	}
	if (!all)
		return NULL;
	all->count = count;
	all->sink.operations = &sink_all_operations;
	return &all->sink;
}
