// SPDX-License-Identifier: GPL-2.0-only
/* Adds sources, maps and counters, each kind with its own checks. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "agent/schema/schema_json.h"
#include "registry.h"

static void on_removal(struct file_watch *watch)
{
	struct entry *entry = file_watch__owner(watch, struct entry);

	registry__entry_ended(entry->registry, entry);
}

/*
 * The kernel reports the end of namespaces and devices.  Cgroups and disks are
 * watched by their files, unless a group does so.
 */
static int registry__watch(struct registry *registry, struct entry *entry,
			   const struct selector *selector, struct dart_error *error)
{
	enum source_selector kind = selector->source->selector;

	if (entry->group || (kind != SOURCE_SELECTOR_CGROUP && kind != SOURCE_SELECTOR_DISK))
		return 0;
	return file_watch__start(registry->rooms.file_watches, &entry->watch,
				 selector->fd, on_removal, error);
}

/* Adds the source to the batch, unless an entry shows it already. */
static int registry__stage_source(struct registry *registry, const struct selector *selector,
				  struct entry_group *group, struct entry **result,
				  struct dart_error *error)
{
	struct entry *entry;
	int ret;

	ret = inventory__check_unused(&registry->inventory, selector->name, error);
	if (ret)
		return ret;
	entry = inventory__find_source(&registry->inventory, &selector->key);
	if (entry)
		return dart_error__set(error, EEXIST,
				       "these counters are registered already, as '%s'",
				       entry->name);

	entry = inventory__find_leased_source(&registry->inventory, &selector->key);
	*result = entry;
	if (entry) {
		entry->group = group;
		ret = registry__revive(registry, entry, selector->name, error);
		if (ret)
			entry->group = NULL;
		return ret;
	}
	ret = quotas__check(&registry->inventory.delegated, selector->delegated_to, 1, 0,
			    error);
	if (ret)
		return ret;
	if (selector->key.gather_ms)
		ret = records__new_entry(&registry->records, &registry->schemas,
					 selector, result, error);
	else
		ret = entry__new_source(registry->rooms.region, &registry->schemas,
					selector, result, error);
	if (ret)
		return ret;
	(*result)->group = group;
	return registry__add(registry, *result, error);
}

int registry__add_source(struct registry *registry, const struct selector *selector,
			 struct entry_group *group, struct entry **result, struct dart_error *error)
{
	int ret;

	registry__begin(registry);
	ret = registry__stage_source(registry, selector, group, result, error);
	if (!ret) {
		if (selector->delegated_to)
			inventory__delegate(&registry->inventory, *result, selector->delegated_to);
		ret = registry__watch(registry, *result, selector, error);
		if (ret)
			registry__take_out(registry, *result);
	}
	return registry__end_with(registry, ret, error);
}

/* Adds a map that is in the region already: its entry is in the table, or on lease. */
static int registry__add_known_map(struct registry *registry, int map_fd, const char *name,
				   struct entry **result, struct dart_error *error)
{
	struct bpf_map_info map = {};
	uint32_t size = sizeof(map);
	struct entry *entry;

	if (bpf_obj_get_info_by_fd(map_fd, &map, &size))
		return dart_error__system(error, errno, "cannot ask what the map is");
	entry = entries__find_map(&registry->inventory.entries, map.id);
	if (entry)
		return dart_error__set(error, EEXIST, "map %u is registered already, as '%s'",
				       map.id, entry->name);
	entry = entries__find_map(&registry->inventory.retired, map.id);
	if (!entry)
		return dart_error__set(error, EEXIST, "the region has map %u already", map.id);
	*result = entry;
	return inventory__check_name(&registry->inventory, name ?: map.name, error) ?:
		       registry__revive(registry, entry, name ?: map.name, error);
}

static int registry__stage_map(struct registry *registry, int map_fd, const struct btf *btf,
			       const char *name, struct entry **result, struct dart_error *error)
{
	struct entry *entry;
	int ret = name ? inventory__check_name(&registry->inventory, name, error) : 0;

	if (ret)
		return ret;
	ret = entry__new_map(registry->rooms.region, map_fd, btf, name, &entry, error);
	if (ret == -EEXIST)
		return registry__add_known_map(registry, map_fd, name, result, error);
	ret = ret ?: registry__add(registry, entry, error);
	if (ret)
		return ret;
	*result = entry;
	return 0;
}

int registry__add_map(struct registry *registry, int map_fd, const struct btf *btf,
		      const char *name, struct entry **result, struct dart_error *error)
{
	registry__begin(registry);
	return registry__end_with(
		registry, registry__stage_map(registry, map_fd, btf, name, result, error), error);
}

static int registry__stage_counters(struct registry *registry, const char *name, json_t *names,
				    struct entry **result, struct dart_error *error)
{
	struct entry *entry;
	int ret = inventory__check_name(&registry->inventory, name, error);

	if (ret)
		return ret;
	entry = entries__find_counters(&registry->inventory.retired, name);
	if (entry && names && !schema_json__names(entry->schema, names))
		return dart_error__set(error, EBUSY,
				       "other counters '%s' are still on lease (try again in %u s)",
				       name, LEASE_SECONDS);
	*result = entry;
	if (entry)
		return registry__revive(registry, entry, name, error);
	return entry__new_counters(registry->rooms.region, name, names, result, error) ?:
		       registry__add(registry, *result, error);
}

int registry__add_counters(struct registry *registry, const char *name, json_t *names,
			   struct entry **result, struct dart_error *error)
{
	registry__begin(registry);
	return registry__end_with(
		registry, registry__stage_counters(registry, name, names, result, error), error);
}

int registry__add_self(struct registry *registry, const char *name, struct dart_schema *schema,
		       const struct dart_zero_slice *slice, struct dart_error *error)
{
	struct entry *entry;
	int ret;

	registry__begin(registry);
	ret = entry__new_self(registry->rooms.region, name, schema, slice, &entry, error) ?:
		      registry__add(registry, entry, error);
	return registry__end_with(registry, ret, error);
}
