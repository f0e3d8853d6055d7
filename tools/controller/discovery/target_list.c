// SPDX-License-Identifier: GPL-2.0-only
/* Makes, sorts, unites and compares lists of targets. */
#include "target_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/address.h>

/* The longest name in the DNS. */
#define HOST_MAX 253

struct target_item *target_item__hold(struct target_item *item)
{
	if (item)
		atomic_fetch_add(&item->holders, 1);
	return item;
}

void target_item__release(struct target_item *item)
{
	struct target_settings *settings;

	if (!item || atomic_fetch_sub(&item->holders, 1) != 1)
		return;
	settings = &item->settings;
	free(settings->host);
	free(settings->name);
	entry_names__release(settings->entries);
	shared_text__release(settings->labels);
	shared_text__release(settings->source);
	relabel_rules__release(settings->metric_relabel);
	free(item);
}

bool target_item__equal(const struct target_item *one, const struct target_item *other)
{
	const struct target_settings *a = &one->settings, *b = &other->settings;

	return one == other ||
	       (!strcmp(a->name, b->name) && !strcmp(a->host, b->host) &&
		a->transport == b->transport && a->interval_ns == b->interval_ns &&
		a->class == b->class && entry_names__equal(a->entries, b->entries) &&
		shared_text__equal(a->labels, b->labels) &&
		relabel_rules__equal(a->metric_relabel, b->metric_relabel));
}

/* The caller is the first holder.  NULL if out of memory. */
static struct target_item *target_item__new(const char *host, uint16_t port)
{
	struct target_item *item = calloc(1, sizeof(*item));

	if (!item)
		return NULL;
	atomic_init(&item->holders, 1);
	item->settings.host = strdup(host);
	item->settings.name = dart_address__name(host, port);
	item->settings.port = port;
	if (item->settings.host && item->settings.name)
		return item;
	target_item__release(item);
	return NULL;
}

struct target_item *target_item__with_labels(const struct target_item *item,
					     struct shared_text *labels)
{
	const struct target_settings *settings = &item->settings;
	struct target_item *copy = target_item__new(settings->host, settings->port);

	if (!copy)
		return NULL;
	copy->settings.transport = settings->transport;
	copy->settings.interval_ns = settings->interval_ns;
	copy->settings.class = settings->class;
	copy->settings.entries = entry_names__hold(settings->entries);
	copy->settings.labels = shared_text__hold(labels);
	copy->settings.source = shared_text__hold(settings->source);
	copy->settings.metric_relabel = relabel_rules__hold(settings->metric_relabel);
	return copy;
}

struct target_item *target_item__on_standby(const struct target_item *item, uint64_t standby_ns)
{
	struct target_item *copy = target_item__with_labels(item, item->settings.labels);

	if (copy)
		copy->settings.standby_ns = standby_ns;
	return copy;
}

/* The array is full when the count is a power of two: then its size is doubled. */
static int target_list__append(struct target_list *list, struct target_item *item)
{
	struct target_item **items = list->items;

	if (!(list->count & (list->count - 1))) {
		items = reallocarray(items, list->count ? 2 * list->count : 1, sizeof(*items));
		if (!items)
			return -ENOMEM;
		list->items = items;
	}
	list->items[list->count++] = item;
	return 0;
}

static bool is_host(const char *host)
{
	size_t length = 0;

	for (; host[length]; length++) {
		if (host[length] <= ' ' || host[length] > '~')
			return false;
	}
	return length && length <= HOST_MAX;
}

int target_list__add(struct target_list_builder *builder, const char *host, uint16_t port,
		     struct target_item **itemp)
{
	const struct target_defaults *defaults = builder->defaults;
	struct target_item *item;

	if (!is_host(host) || !port)
		return -EINVAL;
	if (builder->list.count == SETTINGS_TARGETS_MAX)
		return -E2BIG;
	item = target_item__new(host, port);
	if (!item || target_list__append(&builder->list, item)) {
		target_item__release(item);
		return -ENOMEM;
	}
	item->settings.transport = defaults->transport;
	item->settings.interval_ns = defaults->interval_ns;
	item->settings.class = defaults->class;
	item->settings.entries = entry_names__hold(defaults->entries);
	item->settings.source = shared_text__hold(builder->source);
	item->settings.metric_relabel = relabel_rules__hold(defaults->metric_relabel);
	if (itemp)
		*itemp = item;
	return 0;
}

/* By name, then by index, which target_list__sort() sets to the order of adding. */
static int compare_items(const void *one, const void *other)
{
	const struct target_settings *a = &(*(struct target_item *const *)one)->settings;
	const struct target_settings *b = &(*(struct target_item *const *)other)->settings;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->index < b->index ? -1 : 1;
}

static void target_list__sort(struct target_list *list)
{
	size_t i, kept = 0;

	for (i = 0; i < list->count; i++)
		list->items[i]->settings.index = i;
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_items);
	for (i = 0; i < list->count; i++) {
		if (kept &&
		    !strcmp(list->items[kept - 1]->settings.name, list->items[i]->settings.name))
			target_item__release(list->items[i]);
		else
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
}

void target_list__finish(struct target_list_builder *builder, struct target_list *list)
{
	target_list__sort(&builder->list);
	*list = builder->list;
	builder->list = (struct target_list){};
}

void target_list__clear(struct target_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		target_item__release(list->items[i]);
	free(list->items);
	*list = (struct target_list){};
}

/* Accepts any host: the resolver judges the hosts of a configuration. */
static int add_configured(struct target_list *list, const struct target_settings *target,
			  uint64_t interval_ns, struct entry_names *entries,
			  struct relabel_rules *metric_relabel)
{
	struct target_item *item = target_item__new(target->host, target->port);

	if (!item || target_list__append(list, item)) {
		target_item__release(item);
		return -ENOMEM;
	}
	item->settings.transport = target->transport;
	item->settings.interval_ns = target->interval_ns ?: interval_ns;
	item->settings.class = target->class;
	item->settings.entries = entry_names__hold(target->entries ?: entries);
	item->settings.labels = shared_text__hold(target->labels);
	item->settings.source = shared_text__hold(target->source);
	item->settings.metric_relabel =
		relabel_rules__hold(target->metric_relabel ?: metric_relabel);
	return 0;
}

int target_list__of_settings(const struct settings *settings, struct target_list *list)
{
	const uint64_t interval_ns = settings->interval_ns ?: SETTINGS_INTERVAL_DEFAULT_NS;
	struct entry_names *entries = NULL;
	int err = 0;
	size_t i;

	*list = (struct target_list){};
	if (settings->entry_count) {
		entries = entry_names__new(settings->entries, settings->entry_count);
		err = entries ? 0 : -ENOMEM;
	}
	for (i = 0; !err && i < settings->target_count; i++)
		err = add_configured(list, &settings->targets[i], interval_ns, entries,
				     settings->metric_relabel);
	entry_names__release(entries);
	if (err)
		target_list__clear(list);
	target_list__sort(list);
	return err;
}

/*
 * Merges the items of both lists in order.  If both contain a name, takes the item of @one.
 * @merged borrows the items, without holding them.
 */
static int merge(const struct target_list *one, const struct target_list *other,
		 struct target_list *merged)
{
	size_t i = 0, k = 0;
	int order, err = 0;

	*merged = (struct target_list){};
	while (!err && (i < one->count || k < other->count)) {
		if (i == one->count || k == other->count)
			order = i == one->count ? 1 : -1;
		else
			order = strcmp(one->items[i]->settings.name,
				       other->items[k]->settings.name);
		err = merged->count == SETTINGS_TARGETS_MAX ?
			      -E2BIG :
			      target_list__append(merged,
						  order <= 0 ? one->items[i] : other->items[k]);
		i += order <= 0;
		k += order >= 0;
	}
	return err;
}

int target_list__unite(const struct target_list *const *lists, size_t count,
		       struct target_list *all)
{
	struct target_list merged;
	int err = 0;
	size_t i;

	*all = (struct target_list){};
	for (i = 0; !err && i < count; i++) {
		err = merge(all, lists[i], &merged);
		free(all->items);
		*all = merged;
	}
	if (err) {
		free(all->items);
		*all = (struct target_list){};
		return err;
	}
	for (i = 0; i < all->count; i++)
		target_item__hold(all->items[i]);
	return 0;
}

int target_list__share(struct target_list *list, const struct membership *membership,
		       uint64_t now_ns, bool stands_by, struct shard_parts *parts)
{
	const uint64_t standby_ns = shard__standby_ns(&membership->shard);
	const size_t count = list->count;
	struct target_item *item, *kept;
	enum shard_role role;
	int err = 0;
	size_t i;

	*parts = (struct shard_parts){};
	list->count = 0;
	for (i = 0; i < count; i++) {
		item = list->items[i];
		kept = NULL;
		role = membership__role(membership, item->settings.name, now_ns);
		if (role == SHARD_STANDBY && !stands_by)
			role = SHARD_LEFT;
		if (role == SHARD_OWN)
			kept = target_item__hold(item);
		else if (role == SHARD_STANDBY)
			kept = target_item__on_standby(item, standby_ns);
		if (kept)
			list->items[list->count++] = kept;
		else if (role == SHARD_STANDBY)
			err = -ENOMEM;
		parts->own += role == SHARD_OWN;
		parts->standby += role == SHARD_STANDBY && kept;
		parts->left += !kept;
		target_item__release(item);
	}
	return err;
}

bool target_list__equal(const struct target_list *one, const struct target_list *other)
{
	size_t i;

	if (one->count != other->count)
		return false;
	for (i = 0; i < one->count; i++) {
		if (!target_item__equal(one->items[i], other->items[i]) ||
		    !shared_text__equal(one->items[i]->settings.source,
					other->items[i]->settings.source))
			return false;
	}
	return true;
}
