// SPDX-License-Identifier: GPL-2.0-only
/* The sources of a configuration: which begin, stay and end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "discovery_private.h"
#include "tools/controller/base/schedule.h"

int discovered__unite(const struct target_list *configured,
		      const struct discovered *sources, size_t count,
		      struct target_list *all, struct dart_error *error)
{
	const struct target_list *lists[SETTINGS_SOURCES_MAX + 1];
	size_t i;
	int ret;

	lists[0] = configured;
	for (i = 0; i < count; i++)
		lists[i + 1] = &sources[i].list;
	ret = target_list__unite(lists, count + 1, all);
	if (ret != -E2BIG)
		return ret ? dart_error__no_memory(error) : 0;
	return dart_error__set(error, EINVAL,
			       "all sources together name more than %d agents",
			       SETTINGS_TARGETS_MAX);
}

void discovered__end(struct discovered *discovered, size_t count,
		     uint64_t wait_ns)
{
	uint64_t deadline_ns = monotonic_ns() + wait_ns;
	size_t i;

	for (i = 0; i < count; i++) {
		if (discovered[i].source)
			source__end(discovered[i].source);
	}
	for (i = 0; i < count; i++) {
		if (discovered[i].source)
			source__free(discovered[i].source, deadline_ns);
		target_list__clear(&discovered[i].list);
		target_list__clear(&discovered[i].refused);
	}
	free(discovered);
}

/* One that is the same in @before is moved from there. */
static int discovered__begin(struct discovery *discovery,
			     struct discovered *discovered,
			     const struct source_settings *wanted,
			     const struct settings *all,
			     struct dart_error *error)
{
	struct discovered *before;
	size_t i;

	for (i = 0; i < discovery->count; i++) {
		before = &discovery->sources[i];
		if (!source__equal(before->source, wanted, all))
			continue;
		*discovered = *before;
		return 0;
	}
	return source__new(discovery->event, wanted, all, discovery__on_news,
			   discovery, &discovered->source, error);
}

static bool is_kept(const struct discovered *discovered,
		    const struct discovered *before, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (before[i].source == discovered->source)
			return true;
	}
	return false;
}

/* Of sources that stay, or that go back where they were, nothing is ended. */
static void discovered__end_others(struct discovered *discovered, size_t count,
				   const struct discovered *kept,
				   size_t kept_count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (is_kept(&discovered[i], kept, kept_count))
			discovered[i] = (struct discovered){};
	}
	discovered__end(discovered, count, 0);
}

/*
 * Until a source with other defaults has been looked at, what it named with those before
 * stays.
 */
static int discovery__inherit(struct discovery *discovery,
			      struct discovered *sources, size_t count)
{
	const struct target_list *lists[1];
	size_t i, old;

	for (i = 0; i < count; i++) {
		if (is_kept(&sources[i], discovery->sources, discovery->count))
			continue;
		for (old = 0; old < discovery->count; old++) {
			if (strcmp(source__name(sources[i].source),
				   source__name(discovery->sources[old].source)))
				continue;
			lists[0] = &discovery->sources[old].list;
			if (target_list__unite(lists, 1, &sources[i].list))
				return -ENOMEM;
			break;
		}
	}
	return 0;
}

int discovery__configure(struct discovery *discovery,
			 const struct settings *settings,
			 struct target_list *configured,
			 struct target_list *all, struct dart_error *error)
{
	const size_t count = settings->source_count;
	struct discovered *sources = calloc(count + 1, sizeof(*sources)),
			  *before = discovery->sources;
	size_t begun, before_count = discovery->count;
	int ret = 0;

	if (!sources)
		return dart_error__no_memory(error);
	for (begun = 0; !ret && begun < count; begun += !ret)
		ret = discovered__begin(discovery, &sources[begun],
					&settings->sources[begun], settings,
					error);
	if (!ret && discovery__inherit(discovery, sources, count))
		ret = dart_error__no_memory(error);
	if (!ret)
		ret = discovered__unite(configured, sources, count, all, error);
	if (ret) {
		discovered__end_others(sources, begun, before, before_count);
		return ret;
	}
	discovery->sources = sources;
	discovery->count = count;
	discovered__end_others(before, before_count, sources, count);
	target_list__clear(&discovery->configured);
	discovery->configured = *configured;
	*configured = (struct target_list){};
	return 0;
}
