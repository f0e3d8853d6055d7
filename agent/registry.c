// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "log.h"
#include "registry.h"

void registry__open(struct registry *registry, struct region *region,
		    struct exposure *exposure, struct leases *leases,
		    struct publication *publication)
{
	*registry = (struct registry){
		.region = region,
		.exposure = exposure,
		.leases = leases,
		.publication = publication,
	};
	TAILQ_INIT(&registry->entries);
	TAILQ_INIT(&registry->retired);
}

/* Behind the others. */
static int registry__link(struct registry *registry, struct entry *entry,
			  struct why *why)
{
	if (names__add(&registry->names, entry->name))
		return why__say(why, ENOMEM, "memory is short");
	TAILQ_INSERT_TAIL(&registry->entries, entry, link);
	return 0;
}

static void registry__unlink(struct registry *registry, struct entry *entry)
{
	names__remove(&registry->names, entry->name);
	TAILQ_REMOVE(&registry->entries, entry, link);
}

static void registry__free_entry(struct registry *registry, struct entry *entry)
{
	exposure__withdraw(entry);
	entry__free(entry, registry->region);
}

void registry__close(struct registry *registry)
{
	struct entry *entry;

	while ((entry = TAILQ_FIRST(&registry->entries))) {
		registry__unlink(registry, entry);
		registry__free_entry(registry, entry);
	}
	while ((entry = TAILQ_FIRST(&registry->retired))) {
		TAILQ_REMOVE(&registry->retired, entry, link);
		lease__cancel(registry->leases, &entry->lease);
		registry__free_entry(registry, entry);
	}
}

/* @has_new_last: there is one more entry, and nothing else has changed. */
static int registry__publish(struct registry *registry, bool has_new_last,
			     struct why *why)
{
	int ret;

	ret = exposure__prepare(registry->exposure, why);
	if (ret)
		return ret;
	if (has_new_last)
		ret = publication__append(registry->publication,
					  registry->exposure,
					  &registry->entries, why);
	else
		ret = publication__update(registry->publication,
					  registry->exposure,
					  &registry->entries, why);
	if (ret)
		exposure__rollback(registry->exposure);
	else
		exposure__commit(registry->exposure);
	return ret;
}

static void on_lease_end(struct lease *lease)
{
	struct entry *entry = lease__owner(lease, struct entry);
	struct registry *registry = entry->registry;
	struct why why;

	TAILQ_REMOVE(&registry->retired, entry, link);
	registry__free_entry(registry, entry);

	/*
	 * In page exposure the extent's pages are still pinned by the memory
	 * region over everything: change to one without them.
	 */
	if (registry->exposure->mode == DART_CONTROL_EXPOSURE_PAGE &&
	    registry__publish(registry, false, &why))
		log__error("pages stay pinned until the next change: %s",
			   why.text);
}

static void registry__retire(struct registry *registry, struct entry *entry)
{
	TAILQ_INSERT_TAIL(&registry->retired, entry, link);
	lease__start(registry->leases, &entry->lease, on_lease_end);
}

struct entry *registry__find(const struct registry *registry, const char *name)
{
	const char *found = names__find(&registry->names, name);

	if (!found)
		return NULL;
	return (struct entry *)(found - offsetof(struct entry, name));
}

static int registry__check_free(const struct registry *registry,
				const char *name, struct why *why)
{
	if (registry__find(registry, name))
		return why__say(why, EEXIST,
				"there is an entry '%s' already (unregister it first)",
				name);
	return 0;
}

/* Puts a new entry, which is freed if that fails, into the table. */
static int registry__add(struct registry *registry, struct entry *entry,
			 struct why *why)
{
	int ret;

	entry->registry = registry;
	ret = registry__check_free(registry, entry->name, why);
	if (ret)
		goto free_entry;
	ret = exposure__expose(registry->exposure, entry, why);
	if (ret)
		goto free_entry;

	ret = registry__link(registry, entry, why);
	if (ret)
		goto free_entry;
	ret = registry__publish(registry, true, why);
	if (ret)
		goto unlink;
	return 0;

unlink:
	registry__unlink(registry, entry);
free_entry:
	registry__free_entry(registry, entry);
	return ret;
}

/* Puts an entry that is on lease back into the table. */
static int registry__revive(struct registry *registry, struct entry *entry,
			    const char *name, struct why *why)
{
	int ret;

	ret = entry_name__check(name, why);
	if (!ret)
		ret = registry__check_free(registry, name, why);
	if (ret)
		return ret;

	strcpy(entry->name, name);
	lease__cancel(registry->leases, &entry->lease);
	TAILQ_REMOVE(&registry->retired, entry, link);

	ret = registry__link(registry, entry, why);
	if (ret)
		goto retire;
	ret = registry__publish(registry, true, why);
	if (ret)
		goto unlink;
	return 0;

unlink:
	registry__unlink(registry, entry);
retire:
	registry__retire(registry, entry);
	return ret;
}

static struct entry *find_source(const struct entries *entries,
				 enum dart_zero_source source)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, entries, link)
		if (entry->kind == DART_CONTROL_ENTRY_SOURCE &&
		    entry->extent.source == source)
			return entry;
	return NULL;
}

static struct entry *find_map(const struct entries *entries, uint32_t map_id)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, entries, link)
		if (entry->kind == DART_CONTROL_ENTRY_MAP &&
		    entry->extent.map_id == map_id)
			return entry;
	return NULL;
}

int registry__add_source(struct registry *registry, const char *name,
			 struct entry **result, struct why *why)
{
	const struct source *source = source__find(name);
	struct entry *entry;
	int ret;

	if (!source)
		return why__say(why, EINVAL,
				"there is no source '%s' (there are cpustat, vmstat and softnet)",
				name);
	ret = registry__check_free(registry, name, why);
	if (ret)
		return ret;

	entry = find_source(&registry->retired, source->id);
	if (entry) {
		ret = registry__revive(registry, entry, name, why);
	} else {
		ret = entry__new_source(registry->region, source, &entry, why);
		if (!ret)
			ret = registry__add(registry, entry, why);
	}
	if (!ret)
		*result = entry;
	return ret;
}

/* The region has the map: in the table, or on lease. */
static int registry__add_known_map(struct registry *registry, int map_fd,
				   const char *name, struct entry **result,
				   struct why *why)
{
	struct bpf_map_info map = { };
	uint32_t size = sizeof(map);
	struct entry *entry;

	if (bpf_obj_get_info_by_fd(map_fd, &map, &size))
		return why__say(why, errno, "cannot ask what the map is: %s",
				strerror(errno));

	entry = find_map(&registry->entries, map.id);
	if (entry)
		return why__say(why, EEXIST,
				"map %u is registered already, as '%s'", map.id,
				entry->name);
	entry = find_map(&registry->retired, map.id);
	if (!entry)
		return why__say(why, EEXIST, "the region has map %u already",
				map.id);
	*result = entry;
	return registry__revive(registry, entry, name ?: map.name, why);
}

int registry__add_map(struct registry *registry, int map_fd, const char *name,
		      struct entry **result, struct why *why)
{
	struct entry *entry;
	int ret;

	if (name) {
		ret = entry_name__check(name, why);
		if (!ret)
			ret = registry__check_free(registry, name, why);
		if (ret)
			return ret;
	}

	ret = entry__new_map(registry->region, map_fd, name, &entry, why);
	if (ret == -EEXIST)
		return registry__add_known_map(registry, map_fd, name, result,
					       why);
	if (!ret)
		ret = registry__add(registry, entry, why);
	if (!ret)
		*result = entry;
	return ret;
}

int registry__remove(struct registry *registry, const char *name,
		     struct entry **result, struct why *why)
{
	struct entry *entry = registry__find(registry, name);
	struct entry *next;
	int ret;

	if (!entry)
		return why__say(why, ENOENT, "there is no entry '%s'", name);

	next = TAILQ_NEXT(entry, link);
	TAILQ_REMOVE(&registry->entries, entry, link);
	ret = registry__publish(registry, false, why);
	if (!ret) {
		names__remove(&registry->names, entry->name);
		registry__retire(registry, entry);
		*result = entry;
	} else if (next) {
		TAILQ_INSERT_BEFORE(next, entry, link);
	} else {
		TAILQ_INSERT_TAIL(&registry->entries, entry, link);
	}
	return ret;
}
