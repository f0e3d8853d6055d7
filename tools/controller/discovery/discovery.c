// SPDX-License-Identifier: GPL-2.0-only
/* Unites the targets of the configuration and of all sources, and says what changed. */
#include "discovery.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "equal_labels.h"
#include "member_watch.h"
#include "source.h"
#include "target_relabel.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/base/validity.h"

struct discovered {
	struct source *source;
	struct target_list list; /* the targets that are wanted for it */
	/* The newest list, if it is refused because all lists together would be too long. */
	struct target_list refused;
	bool is_looked_at; /* at least once */
	uint64_t looks, failures, heard_ns;
	struct dart_error error; /* the last one that was said; empty after a success */
	struct target_faults faults; /* of the last look that succeeded; said already */
};

struct discovery {
	sd_event *event;
	const struct discovery_operations *operations;
	void *data;
	struct source *configuration; /* NULL without a configuration file */
	struct settings settings; /* at the start, without targets and sources */
	struct target_list configured;
	struct target_faults configured_faults; /* said already */
	struct discovered *sources;
	size_t count;
	uint64_t reloads, refused;
	size_t separated; /* the last count of equal labels that was said */
	struct member_watch members; /* of the configuration that was read last */
	struct shard_parts parts;
};

static int discovered__unite(const struct target_list *configured, const struct discovered *sources,
			     size_t count, struct target_list *all, struct dart_error *error)
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
	return dart_error__set(error, EINVAL, "all sources together name more than %d agents",
			       SETTINGS_TARGETS_MAX);
}

static void discovered__end(struct discovered *discovered, size_t count, uint64_t wait_ns)
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

/* Takes the news of a source: a source_handler. */
static void discovery__on_news(void *data, struct source *source, struct source_news *news);

/* Starts the source @wanted, or takes a running source with equal settings, and its state. */
static int discovered__begin(struct discovery *discovery, struct discovered *discovered,
			     const struct source_settings *wanted, const struct settings *all,
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
	return source__new(discovery->event, wanted, all, discovery__on_news, discovery,
			   &discovered->source, error);
}

static bool is_kept(const struct discovered *discovered, const struct discovered *before,
		    size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (before[i].source == discovered->source)
			return true;
	}
	return false;
}

/* Ends all sources of @discovered except the ones that @kept shares, and frees the array. */
static void discovered__end_others(struct discovered *discovered, size_t count,
				   const struct discovered *kept, size_t kept_count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (is_kept(&discovered[i], kept, kept_count))
			discovered[i] = (struct discovered){};
	}
	discovered__end(discovered, count, 0);
}

/*
 * A source that starts anew because its settings changed takes over the list of its predecessor
 * of the same name, so that the targets stay until the first look.
 */
static int discovery__inherit(struct discovery *discovery, struct discovered *sources, size_t count)
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

static int discovery__configure(struct discovery *discovery, const struct settings *settings,
				struct target_list *configured, struct target_list *all,
				struct dart_error *error)
{
	const size_t count = settings->source_count;
	struct discovered *sources = calloc(count + 1, sizeof(*sources)),
			  *before = discovery->sources;
	size_t begun, before_count = discovery->count;
	int ret = 0;

	*all = (struct target_list){};
	if (!sources)
		return dart_error__no_memory(error);
	for (begun = 0; !ret && begun < count; begun += !ret)
		ret = discovered__begin(discovery, &sources[begun], &settings->sources[begun],
					settings, error);
	if (!ret && discovery__inherit(discovery, sources, count))
		ret = dart_error__no_memory(error);
	if (!ret)
		ret = discovered__unite(configured, sources, count, all, error);
	if (!ret)
		ret = member_watch__configure(&discovery->members, &settings->shard, error);
	if (ret) {
		target_list__clear(all);
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

/* How long threads that wait for name services may delay the end of the program. */
#define END_NS 200000000ULL

static void __attribute__((format(printf, 2, 3)))
say(struct discovery *discovery, const char *format, ...)
{
	struct dart_error sentence;
	va_list arguments;

	va_start(arguments, format);
	dart_error__vset(&sentence, 0, format, arguments);
	va_end(arguments);
	discovery->operations->say(discovery->data, sentence.text);
}

static void discovery__say(void *data, const char *sentence)
{
	struct discovery *discovery = data;

	discovery->operations->say(discovery->data, sentence);
}

static void discovery__tell_dropped(struct discovery *discovery)
{
	size_t count = discovery->configured_faults.dropped, i;

	for (i = 0; i < discovery->count; i++)
		count += discovery->sources[i].faults.dropped;
	if (discovery->operations->dropped)
		discovery->operations->dropped(discovery->data, count);
}

/* Separates targets with equal labels, and says so when their number changed. */
static void discovery__separate(struct discovery *discovery, struct target_list *all)
{
	struct dart_error example;
	size_t count;

	if (equal_labels__separate(all, &count, &example))
		say(discovery, "out of memory: some agents may have equal labels");
	if (discovery->operations->separated)
		discovery->operations->separated(discovery->data, count);
	if (count == discovery->separated)
		return;
	discovery->separated = count;
	if (count)
		say(discovery,
		    "%zu agents were given equal labels, such as %s: their label 'instance' is now the"
		    " name of the agent, and 'target_instance' the given instance",
		    count, example.text);
	else
		say(discovery, "no two agents are given equal labels any more");
}

static void discovery__tell_shard(void *data)
{
	struct discovery *discovery = data;

	if (discovery->operations->sharded)
		discovery->operations->sharded(discovery->data, &discovery->members.membership,
					       &discovery->parts, *discovery->members.error.text);
}

static void discovery__tell_left(void *data)
{
	struct discovery *discovery = data;

	if (discovery->operations->left)
		discovery->operations->left(discovery->data);
}

static void discovery__tell_validity(void *data, uint64_t until_ns)
{
	struct discovery *discovery = data;

	if (discovery->operations->valid)
		discovery->operations->valid(discovery->data, until_ns);
}

/* All members separate labels in the same list, so labels do not change when a target moves. */
static void discovery__want(struct discovery *discovery, struct target_list *all)
{
	discovery__separate(discovery, all);
	if (target_list__share(all, &discovery->members.membership, boottime_ns(),
			       !discovery->operations->never_stands_by, &discovery->parts))
		say(discovery, "out of memory: some agents have no standby here");
	discovery__tell_shard(discovery);
	discovery->operations->want(discovery->data, all);
	target_list__clear(all);
}

/* The same targets, whose members have changed. */
static void discovery__want_again(void *data)
{
	struct discovery *discovery = data;
	struct dart_error error;
	struct target_list all;

	if (discovered__unite(&discovery->configured, discovery->sources, discovery->count, &all,
			      &error))
		say(discovery, "%s: the agents stay as they are", error.text);
	else
		discovery__want(discovery, &all);
}

static struct discovered *discovery__find(struct discovery *discovery, const struct source *source)
{
	size_t i;

	for (i = 0; i < discovery->count; i++) {
		if (discovery->sources[i].source == source)
			return &discovery->sources[i];
	}
	return NULL;
}

/* Counts the failure of a source, and says the reason unless it was the last one said. */
static void discovery__fail(struct discovery *discovery, struct discovered *discovered,
			    const struct dart_error *error)
{
	discovered->failures++;
	if (!strcmp(discovered->error.text, error->text))
		return;
	discovered->error = *error;
	if (discovered->list.count)
		say(discovery, "%s: %s; its %zu agent%s stay%s", source__name(discovered->source),
		    error->text, discovered->list.count, discovered->list.count == 1 ? "" : "s",
		    discovered->list.count == 1 ? "s" : "");
	else
		say(discovery, "%s: %s", source__name(discovered->source), error->text);
}

/*
 * Names the targets and groups that a source left out, unless they are the same as before, in
 * @before, which are replaced.
 */
static void discovery__say_faults(struct discovery *discovery, const char *name,
				  struct target_faults *before, const struct target_faults *faults)
{
	const size_t named = target_faults__named(faults);
	const bool is_equal = target_faults__equal(before, faults);
	size_t i;

	*before = *faults;
	if (is_equal)
		return;
	for (i = 0; i < named; i++)
		say(discovery, "%s: %s; it is left out", name, faults->first[i].text);
	if (faults->count > named)
		say(discovery, "%s: %zu more targets and groups are left out", name,
		    faults->count - named);
	if (!faults->count)
		say(discovery, "%s: nothing is left out any more", name);
}

/*
 * Takes over @list, and wants its targets.  Returns 0, or -errno with a sentence in @error: then
 * the source keeps its former list, and @list is kept as refused.
 */
static int discovery__take_list(struct discovery *discovery, struct discovered *discovered,
				struct target_list *list, struct dart_error *error)
{
	struct target_list before = discovered->list, all;
	int ret;

	target_list__clear(&discovered->refused);
	discovered->list = *list;
	*list = (struct target_list){};
	ret = discovered__unite(&discovery->configured, discovery->sources, discovery->count, &all,
				error);
	if (ret) {
		discovered->refused = discovered->list;
		discovered->list = before;
		return ret;
	}
	target_list__clear(&before);
	discovery__want(discovery, &all);
	return 0;
}

static void discovery__on_news(void *data, struct source *source, struct source_news *news)
{
	struct discovery *discovery = data;
	struct discovered *discovered = discovery__find(discovery, source);
	struct dart_error refusal, *error = &news->error;
	bool is_new = news->has_list;
	struct target_list again;
	int ret = news->result;
	char dropped[TARGET_DROPPED_TEXT];

	discovered->looks++;
	discovered->is_looked_at = true;
	if (news->has_list || discovered->refused.count) {
		again = news->has_list ? news->list : discovered->refused;
		if (news->has_list)
			news->list = (struct target_list){};
		else
			discovered->refused = (struct target_list){};
		is_new = !discovery__take_list(discovery, discovered, &again, &refusal);
		if (!is_new && !ret) {
			ret = -EINVAL;
			error = &refusal;
		}
	}
	if (ret) {
		discovery__fail(discovery, discovered, error);
		return;
	}
	discovered->heard_ns = monotonic_ns();
	discovery__say_faults(discovery, source__name(source), &discovered->faults, &news->faults);
	discovery__tell_dropped(discovery);
	if (is_new || *discovered->error.text)
		say(discovery, "%s: names %zu agent%s%s", source__name(source),
		    discovered->list.count, discovered->list.count == 1 ? "" : "s",
		    target_faults__count_dropped(&news->faults, dropped));
	discovered->error.text[0] = '\0';
}

static void discovery__count_reload(struct discovery *discovery, bool is_refused)
{
	discovery->reloads++;
	discovery->refused += is_refused;
	if (discovery->operations->reloaded)
		discovery->operations->reloaded(discovery->data, is_refused);
}

static void discovery__refuse(struct discovery *discovery, const struct dart_error *error)
{
	discovery__count_reload(discovery, true);
	say(discovery, "%s; nothing has changed", error->text);
}

static void discovery__take_configuration(struct discovery *discovery, struct source *source,
					  struct source_news *news)
{
	char names[256] = "", dropped[TARGET_DROPPED_TEXT];
	struct dart_error error;
	struct target_list all;

	if (discovery__configure(discovery, &news->settings, &news->list, &all, &error)) {
		discovery__refuse(discovery, &error);
		return;
	}
	if (discovery->operations->configured)
		discovery->operations->configured(discovery->data, &news->settings.outputs);
	discovery__count_reload(discovery, false);
	discovery__want(discovery, &all);
	discovery__tell_validity(discovery, discovery->members.membership.valid_ns);
	discovery__say_faults(discovery, source__name(source), &discovery->configured_faults,
			      &news->faults);
	discovery__tell_dropped(discovery);
	if (!settings__start_alike(&discovery->settings, &news->settings))
		dart_settings__print_for_start(&settings__table, ", ", names, sizeof(names));
	say(discovery, "%s: read again (agents: %zu, sources: %zu%s)%s%s%s", source__name(source),
	    discovery->configured.count, discovery->count,
	    target_faults__count_dropped(&news->faults, dropped),
	    *names ? "; taken at the next start: " : "", names,
	    *names ? " (the files that tls names are read again)" : "");
}

static void on_configuration(void *data, struct source *source, struct source_news *news)
{
	/* The thread may have read the file twice: news of a valid file, then of a refused one. */
	if (news->has_list)
		discovery__take_configuration(data, source, news);
	if (news->result)
		discovery__refuse(data, &news->error);
}

int discovery__new(sd_event *event, const struct settings *own, const struct settings *settings,
		   const char *path, const struct discovery_operations *operations, void *data,
		   struct discovery **discoveryp, struct dart_error *error)
{
	static const struct member_watch_operations members_operations = {
		.changed = discovery__want_again,
		.valid = discovery__tell_validity,
		.left = discovery__tell_left,
		.failed = discovery__tell_shard,
		.say = discovery__say,
	};
	struct discovery *discovery = calloc(1, sizeof(*discovery));
	struct target_list configured = {}, all;
	struct target_faults faults = {};
	int ret;

	if (!discovery)
		return dart_error__no_memory(error);
	discovery->event = event;
	discovery->operations = operations;
	discovery->data = data;
	dart_error__no_memory(error);
	ret = member_watch__open(&discovery->members, event, &members_operations, discovery,
				 operations->never_stands_by) ?:
		      settings__copy_members(&discovery->settings, settings)  ?:
		      target_list__of_settings(settings, &configured) ?:
		      target_relabel__list(&configured, settings->relabel, &faults) ?:
		      discovery__configure(discovery, settings, &configured, &all, error);
	target_list__clear(&configured);
	if (!ret) {
		discovery__want(discovery, &all);
		discovery__say_faults(discovery, path ?: "command line",
				      &discovery->configured_faults, &faults);
		discovery__tell_dropped(discovery);
		if (faults.dropped)
			say(discovery, "%s: relabel_configs drop %zu agents", path ?: "command line",
			    faults.dropped);
	}
	if (!ret && path)
		ret = source__new_configuration(event, path, own, on_configuration, discovery,
						&discovery->configuration);
	if (ret) {
		discovery__free(discovery);
		return ret;
	}
	*discoveryp = discovery;
	return 0;
}

void discovery__free(struct discovery *discovery)
{
	if (!discovery)
		return;
	discovered__end(discovery->sources, discovery->count, END_NS);
	member_watch__close(&discovery->members);
	if (discovery->configuration) {
		source__end(discovery->configuration);
		source__free(discovery->configuration, monotonic_ns() + END_NS);
	}
	target_list__clear(&discovery->configured);
	settings__clear(&discovery->settings);
	free(discovery);
}

void discovery__reload(struct discovery *discovery)
{
	size_t i;

	if (discovery->configuration)
		source__look(discovery->configuration);
	member_watch__look(&discovery->members);
	for (i = 0; i < discovery->count; i++)
		source__look(discovery->sources[i].source);
}

bool discovery__leave(struct discovery *discovery)
{
	return member_watch__leave(&discovery->members);
}

bool discovery__is_leaving(const struct discovery *discovery)
{
	return discovery->members.is_leaving;
}

bool discovery__is_complete(const struct discovery *discovery)
{
	size_t i;

	if (!discovery->members.is_complete)
		return false;
	for (i = 0; i < discovery->count; i++) {
		if (!discovery->sources[i].is_looked_at)
			return false;
	}
	return true;
}

const struct target_faults *discovery__configured_faults(const struct discovery *discovery)
{
	return &discovery->configured_faults;
}

size_t discovery__source_count(const struct discovery *discovery)
{
	return discovery->count;
}

void discovery__source(const struct discovery *discovery, size_t index,
		       struct discovery_source *source)
{
	const struct discovered *discovered = &discovery->sources[index];

	*source = (struct discovery_source){
		.name = source__name(discovered->source),
		.kind = source__kind(discovered->source),
		.targets = discovered->list.count,
		.left_out = discovered->faults.count,
		.dropped = discovered->faults.dropped,
		.faults = &discovered->faults,
		.looks = discovered->looks,
		.failures = discovered->failures,
		.heard_ns = discovered->heard_ns,
		.error = *discovered->error.text  ? discovered->error.text :
			 discovered->faults.count ? discovered->faults.first[0].text :
						    NULL,
	};
}

void discovery__reloads(const struct discovery *discovery, uint64_t *reloads, uint64_t *refused)
{
	*reloads = discovery->reloads;
	*refused = discovery->refused;
}

const struct membership *discovery__membership(const struct discovery *discovery,
					       struct shard_parts *parts, const char **error)
{
	const struct member_watch *members = &discovery->members;

	*parts = discovery->parts;
	*error = *members->error.text ? members->error.text : NULL;
	return &members->membership;
}
