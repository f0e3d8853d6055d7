// SPDX-License-Identifier: GPL-2.0-only
/* Registers the parts of a host, and ends them together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/configuration/object.h>

#include "agent/base/clock.h"
#include "agent/base/log.h"
#include "kinds.h"
#include "whole_host.h"

struct whole_host {
	struct entry_group group;	/* of the entries that are not followers' */
	struct followers *followers;
	struct selector_choice gathering; /* selects nothing */
	struct followers_retry retry;
	bool *is_staged;	/* by the index of a source: added in a batch */
	struct whole_host_missing *missing;	/* by the index of a source */
};

static struct whole_host *of_group(const struct entry_group *group)
{
	return (struct whole_host *)((char *)group - offsetof(struct whole_host, group));
}

static uint32_t whole_host__entries(const struct whole_host *host, uint32_t *follower_count)
{
	uint32_t count = host->group.entry_count;
	const struct follower *follower;

	*follower_count = 0;
	TAILQ_FOREACH(follower, &host->followers->list, link) {
		if (follower->group.part_of != &host->group)
			continue;
		count += follower->group.entry_count;
		++*follower_count;
	}
	return count;
}

static size_t count_sources(void)
{
	const struct source *source = sources;

	while (source->name)
		source++;
	return source - sources;
}

static size_t count_left_out(const struct whole_host *host)
{
	size_t i, count = 0;

	for (i = 0; sources[i].name; i++)
		count += host->missing[i].is_missing;
	return count;
}

/* [{"source": S, "reason": R}, ...]; NULL: out of memory. */
static json_t *describe_left_out(const struct whole_host *host)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; sources[i].name; i++)
		if (host->missing[i].is_missing)
			reply__append(&list, json_pack("{s:s, s:s}", "source", sources[i].name,
						       "reason", host->missing[i].why.text));
	return list;
}

static json_t *describe(const struct entry_group *group)
{
	const struct whole_host *host = of_group(group);
	uint32_t entries, followers;

	entries = whole_host__entries(host, &followers);
	return json_pack("{s:s, s:s, s:I, s:b, s:I, s:I, s:I, s:o, s:i, s:I}", "name", group->name,
			 "kind", "host", "gather_ms", (json_int_t)host->gathering.gather_ms,
			 "deferrable", host->gathering.is_deferrable, "entries",
			 (json_int_t)entries, "followers", (json_int_t)followers, "failures",
			 (json_int_t)count_left_out(host), "left_out", describe_left_out(host),
			 "owner", 0, "age_s", (json_int_t)clock__age_s(group->registered));
}

static void whole_host__delete(struct whole_host *host)
{
	free(host->is_staged);
	free(host->missing);
	free(host);
}

/* Its entries have left the table. */
static void whole_host__free(struct whole_host *host)
{
	void (*unregistered)(struct followers *followers) = NULL;
	struct followers *followers = host->followers;
	struct follower *follower, *next;

	for (follower = TAILQ_FIRST(&followers->list); follower; follower = next) {
		next = TAILQ_NEXT(follower, link);
		if (follower->group.part_of != &host->group)
			continue;
		/* Only namespace followers implement this; one call covers all of them. */
		unregistered = follower->operations->unregistered ?: unregistered;
		followers__drop(followers, follower);
	}
	if (unregistered)
		unregistered(followers);
	inventory__remove_group(&followers->registry->inventory, &host->group);
	TAILQ_REMOVE(&followers->retries, &host->retry, link);
	followers->whole_host = NULL;
	coverage_watch__recount(followers->coverage);
	whole_host__delete(host);
}

static void whole_host__withdraw(const struct whole_host *host)
{
	struct registry *registry = host->followers->registry;
	const struct follower *follower;

	registry__withdraw_group(registry, &host->group, false);
	TAILQ_FOREACH(follower, &host->followers->list, link)
		if (follower->group.part_of == &host->group)
			registry__withdraw_group(registry, &follower->group, false);
}

static int unregister(struct entry_group *group, struct dart_error *error)
{
	struct whole_host *host = of_group(group);
	struct followers *followers = host->followers;
	int ret;

	registry__begin(followers->registry);
	whole_host__withdraw(host);
	ret = registry__end(followers->registry, error);
	if (ret)
		return ret;
	changes__announce(followers->changes, "removed", "host", group->name);
	whole_host__free(host);
	return 0;
}

static void whole_host__miss(struct whole_host *host, const struct source *source, int code,
			     const struct dart_error *why)
{
	struct whole_host_missing *missing = &host->missing[source - sources];

	/* EBUSY: the earlier entry is still leaving the table; registration succeeds soon after. */
	if (code != EBUSY && (!missing->is_missing || strcmp(missing->why.text, why->text)))
		log__peer_warning("host: %s is left out: %s", source->name, why->text);
	*missing = (struct whole_host_missing){
		.is_missing = true,
		.reason = coverage__reason_of(code),
		.why = *why,
	};
	coverage_watch__touch(host->followers->coverage);
	if (coverage__can_pass(missing->reason))
		followers__retry_later(host->followers);
}

/* Settles the entries of a batch; followers settle their own entries. */
static void settle(struct entry_group *group, int end, const struct dart_error *why)
{
	struct whole_host *host = of_group(group);
	size_t i;

	for (i = 0; sources[i].name; i++) {
		if (host->is_staged[i] && end)
			whole_host__miss(host, &sources[i], -end, why);
		host->is_staged[i] = false;
	}
}

static const struct entry_group_operations operations = {
	.describe = describe,
	.unregister = unregister,
	.settle = settle,
};

/* A source of one object. */
static int whole_host__add_entry(struct whole_host *host, const struct source *source,
				 struct dart_error *error)
{
	struct selector selector;
	struct entry *entry;
	int ret;

	ret = selector__choose(&selector, source, &host->gathering, error);
	if (ret)
		return ret;
	ret = registry__add_source(host->followers->registry, &selector,
				   &host->group, &entry, error);
	selector__close(&selector);
	return ret;
}

/* All cgroups are the cgroups below the root of their hierarchy. */
static int open_cgroups(struct selector_choice *choice, struct dart_error *error)
{
	char path[PATH_MAX];
	const char *label;
	int ret;

	ret = dart_object__path(DART_OBJECT_CGROUP, "/", path, &label, error);
	if (ret)
		return ret;
	choice->fd = dart_object__open_cgroup(path, NULL, error);
	choice->cgroup = "/";
	return choice->fd < 0 ? choice->fd : 0;
}

/* No object supports the source.  @error says why. */
static bool is_useless(const struct follower *follower, struct dart_error *error)
{
	const struct coverage_tally *tally = &follower->tally;
	const struct coverage_missing *unsupported = &tally->missing[COVERAGE_UNSUPPORTED];

	if (!tally->present || tally->present != unsupported->count)
		return false;
	*error = unsupported->why;
	return true;
}

static int whole_host__add_follower(struct whole_host *host, const struct source *source,
				    struct dart_error *error)
{
	struct followers *followers = host->followers;
	struct selector_choice choice = host->gathering;
	struct follower *follower;
	int ret = 0;

	if (source->in_host == SOURCE_IN_HOST_RARELY && choice.gather_ms < WHOLE_HOST_RARE_MS)
		choice.gather_ms = WHOLE_HOST_RARE_MS;
	if (source->selector == SOURCE_SELECTOR_CGROUP)
		ret = open_cgroups(&choice, error);
	ret = ret ?: followers__follow(followers, source, &choice, &follower, error);
	if (choice.fd >= 0)
		close(choice.fd);
	if (ret)
		return ret;
	if (is_useless(follower, error)) {
		followers__drop(followers, follower);
		return -EOPNOTSUPP;
	}
	follower->group.part_of = &host->group;
	return 0;
}

static bool has_one_object(const struct source *source)
{
	return source->selector == SOURCE_SELECTOR_NONE || source->in_host == SOURCE_IN_HOST_OWN;
}

/* Part of a batch. */
static int whole_host__add_part(struct whole_host *host, const struct source *source,
				struct dart_error *error)
{
	bool is_entry = has_one_object(source);
	int ret = is_entry ? whole_host__add_entry(host, source, error) :
			     whole_host__add_follower(host, source, error);

	if (ret) {
		whole_host__miss(host, source, -ret, error);
		return ret;
	}
	host->missing[source - sources].is_missing = false;
	host->is_staged[source - sources] = is_entry;
	coverage_watch__touch(host->followers->coverage);
	return 0;
}

/* Part of a batch. */
static int whole_host__add_parts(struct whole_host *host, struct dart_error *error)
{
	const struct source *source;
	struct dart_error reason;
	bool have_failed = false;
	uint32_t parts = 0;
	int ret;

	for (source = sources; source->name; source++) {
		if (source->in_host == SOURCE_IN_HOST_ELSEWHERE)
			continue;
		ret = whole_host__add_part(host, source, &reason);
		if (!ret) {
			parts++;
			continue;
		}
		if (!have_failed)
			*error = reason;
		have_failed = true;
	}
	return parts ? 0 : -EOPNOTSUPP;
}

static bool can_pass(const struct whole_host_missing *missing)
{
	return missing->is_missing && coverage__can_pass(missing->reason);
}

static struct whole_host *of_retry(const struct followers_retry *retry)
{
	return (struct whole_host *)((char *)retry - offsetof(struct whole_host, retry));
}

static bool is_needed(const struct followers_retry *retry)
{
	const struct whole_host *host = of_retry(retry);
	size_t i;

	for (i = 0; sources[i].name; i++)
		if (can_pass(&host->missing[i]))
			return true;
	return false;
}

static void retry_missing(struct followers_retry *retry)
{
	struct whole_host *host = of_retry(retry);
	struct registry *registry = host->followers->registry;
	struct dart_error ignored;
	size_t i;

	registry__begin(registry);
	for (i = 0; sources[i].name; i++)
		if (can_pass(&host->missing[i]) &&
		    !whole_host__add_part(host, &sources[i], &ignored))
			log__peer_info("host: %s is not left out any more", sources[i].name);
	registry__end_or_log(registry);
}

const struct whole_host_missing *whole_host__missing(const struct followers *followers,
						     const struct source *source)
{
	const struct whole_host_missing *missing =
		followers->whole_host ? &followers->whole_host->missing[source - sources] : NULL;

	return missing && missing->is_missing ? missing : NULL;
}

static struct whole_host *whole_host__new(struct followers *followers,
					  const struct selector_choice *gathering)
{
	struct whole_host *host = calloc(1, sizeof(*host));

	if (!host)
		return NULL;
	host->followers = followers;
	host->gathering = *gathering;
	host->group.operations = &operations;
	strcpy(host->group.name, WHOLE_HOST_NAME);
	host->retry.retry = retry_missing;
	host->retry.is_needed = is_needed;
	host->is_staged = calloc(count_sources(), sizeof(*host->is_staged));
	host->missing = calloc(count_sources(), sizeof(*host->missing));
	if (host->is_staged && host->missing)
		return host;
	whole_host__delete(host);
	return NULL;
}

int whole_host__register(struct followers *followers, const struct selector_choice *gathering,
			 struct entry_group **group, struct dart_error *error)
{
	struct registry *registry = followers->registry;
	struct whole_host *host;
	int ret;

	ret = inventory__check_name(&registry->inventory, WHOLE_HOST_NAME, error);
	if (ret)
		return ret;
	host = whole_host__new(followers, gathering);
	if (!host)
		return dart_error__no_memory(error);
	ret = inventory__add_group(&registry->inventory, &host->group, error);
	if (ret) {
		whole_host__delete(host);
		return ret;
	}
	TAILQ_INSERT_TAIL(&followers->retries, &host->retry, link);
	followers->whole_host = host;
	coverage_watch__recount(followers->coverage);
	registry__begin(registry);
	ret = whole_host__add_parts(host, error);
	if (ret)
		whole_host__withdraw(host);
	ret = registry__end_with(registry, ret, error);
	if (ret) {
		whole_host__free(host);
		return ret;
	}
	*group = &host->group;
	return 0;
}
