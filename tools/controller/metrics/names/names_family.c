// SPDX-License-Identifier: GPL-2.0-only
/* Takes families and patterns of families from YAML. */
#include "names_family.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "names_series.h"

#define HELP_MAX 1000 /* bytes */
#define NAME_MARK "$name"

/* An item as the file states it; the texts belong to the YAML document. */
struct item {
	const yaml_node_t *name_node;
	const char *name;
	const char *pattern;
	const char *help;
	const char *unit;
	enum metric_type type;
	bool has_type;
	const yaml_node_t *series;
};

static int take_text(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char **text = into;

	*text = dart_yaml__text(node);
	if (!*text || !**text)
		return dart_yaml__refuse(yaml, node, "expected a text");
	return 0;
}

static int take_name(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct item *item = into;

	item->name_node = node;
	return take_text(yaml, node, &item->name);
}

static int take_pattern(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct item *item = into;

	item->name_node = node;
	return take_text(yaml, node, &item->pattern);
}

static int take_help(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char **help = into;
	int ret = take_text(yaml, node, into);

	if (ret)
		return ret;
	if (strlen(*help) > HELP_MAX)
		return dart_yaml__refuse(yaml, node, "the help has more than %d bytes", HELP_MAX);
	return 0;
}

static int take_type(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const char *const names[] = {
		[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_UNTYPED] = "untyped",
		[METRIC_HISTOGRAM] = "histogram",
	};
	const char *text = dart_yaml__text(node);
	struct item *item = into;
	unsigned int i;

	for (i = 0; text && i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(text, names[i]))
			continue;
		item->type = i;
		item->has_type = true;
		return 0;
	}
	return dart_yaml__refuse(yaml, node,
				 "unknown type '%s' (counter, gauge, untyped or histogram)",
				 text ?: "?");
}

static int take_unit(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char **unit = into;
	int ret = take_text(yaml, node, into);

	if (ret)
		return ret;
	return name__is_valid(*unit) ?
		       0 :
		       dart_yaml__refuse(yaml, node, "'%s' cannot be a unit", *unit);
}

static int take_series(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	*(const yaml_node_t **)into = node;
	return 0;
}

static int take_item(struct dart_yaml *yaml, const yaml_node_t *node, struct item *item)
{
	static const struct dart_yaml_member members[] = {
		{ "family", take_name, 0 },
		{ "pattern", take_pattern, 0 },
		{ "help", take_help, offsetof(struct item, help) },
		{ "type", take_type, 0 },
		{ "unit", take_unit, offsetof(struct item, unit) },
		{ "series", take_series, offsetof(struct item, series) },
		{}
	};
	int ret = dart_yaml__take_mapping(yaml, node, members, item);

	if (ret)
		return ret;
	if (!item->name == !item->pattern)
		return dart_yaml__refuse(yaml, node, "an item has either 'family' or 'pattern'");
	if (!item->help || !item->has_type || !item->series)
		return dart_yaml__refuse(yaml, node, "'%s' is missing",
					 !item->help	 ? "help" :
					 !item->has_type ? "type" :
							   "series");
	if (item->pattern && (!strstr(item->pattern, NAME_MARK) ||
			      strstr(strstr(item->pattern, NAME_MARK) + 1, NAME_MARK)))
		return dart_yaml__refuse(yaml, item->name_node,
					 "a pattern has '" NAME_MARK "' once");
	return 0;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	const size_t size = strlen(end);

	return length >= size && !memcmp(text + length - size, end, size);
}

/* True if @name, without a final "_total", consists of a word, "_" and @unit. */
static bool has_unit(const char *name, const char *unit)
{
	size_t length = strlen(name);
	const size_t size = strlen(unit);

	if (ends_with(name, length, "_total"))
		length -= strlen("_total");
	return length > size + 1 && name[length - size - 1] == '_' &&
	       !memcmp(name + length - size, unit, size);
}

static int check_name(struct dart_yaml *yaml, const yaml_node_t *node, const struct item *item,
		      const char *name)
{
	if (!name__is_valid(name))
		return dart_yaml__refuse(
			yaml, node,
			"'%s' cannot be the name of a family (letters, digits and '_', at most %d)",
			name, NAMES_LENGTH_MAX);
	if (item->type == METRIC_COUNTER && !ends_with(name, strlen(name), "_total"))
		return dart_yaml__refuse(
			yaml, node,
			"the counter '%s' does not end with '_total' (rename it, or make it untyped)",
			name);
	if (item->unit && !has_unit(name, item->unit))
		return dart_yaml__refuse(yaml, node,
					 "the name '%s' does not end with its unit '%s'", name,
					 item->unit);
	return 0;
}

/* Copies @text to the arena, with @name in place of each mark; NULL if memory ran out. */
static const char *replace(struct arena *arena, const char *text, const char *name)
{
	char all[HELP_MAX + 1];
	size_t length = 0;

	while (*text && length < sizeof(all) - 1) {
		if (name && !strncmp(text, NAME_MARK, strlen(NAME_MARK))) {
			length += snprintf(all + length, sizeof(all) - length, "%s", name);
			text += strlen(NAME_MARK);
		} else {
			all[length++] = *text++;
		}
	}
	if (length > sizeof(all) - 1)
		length = sizeof(all) - 1;
	return arena__copy(arena, all, length);
}

/* The data that a series needs from its item. */
struct context {
	struct names_file *file;
	const struct item *item;
	uint32_t family; /* family of an item without a pattern */
};

static int add_family(struct dart_yaml *yaml, const yaml_node_t *node,
		      const struct context *context, const char *name, uint32_t *index)
{
	struct loaded_names *loaded = context->file->loaded;
	const struct item *item = context->item;
	const unsigned int line = dart_yaml__line(item->name_node);
	const char *text = item->pattern ?: item->name;
	struct name_family family = { .type = item->type };
	const struct name_place place = {
		.path = context->file->path,
		.line = dart_yaml__line(node),
		.pattern = item->pattern ? line : 0,
	};
	const struct name_place *other;

	family.name = replace(&loaded->arena, text, name);
	family.help = replace(&loaded->arena, item->help, name);
	family.unit = item->unit ? replace(&loaded->arena, item->unit, NULL) : "";
	if (!family.name || !family.help || !family.unit)
		return dart_error__no_memory(yaml->error);
	if (check_name(yaml, node, item, family.name))
		return -EINVAL;
	*index = text_index__find(&loaded->by_name, family.name);
	other = *index == TEXT_INDEX_NONE ? NULL : &loaded->places[*index];
	if (other &&
	    (!place.pattern || other->pattern != place.pattern || other->path != place.path))
		return dart_yaml__refuse(yaml, node,
					 "the family '%s' is already in %s:%u (remove one)",
					 family.name, other->path, other->line);
	if (!other && loaded_names__add_family(loaded, &family, &place, index))
		return dart_error__no_memory(yaml->error);
	return 0;
}

/* Finds the family of a value: the item's, or in a pattern the family named by its field. */
static int find_family(struct dart_yaml *yaml, const yaml_node_t *node, const char *name,
		       void *data, uint32_t *index)
{
	struct context *context = data;

	if (context->item->pattern)
		return add_family(yaml, node, context, name, index);
	*index = context->family;
	return 0;
}

static int take_one_series(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct context *context = into;
	const struct names_series_use use = {
		.loaded = context->file->loaded,
		.is_pattern = context->item->pattern,
		.is_histogram = context->item->type == METRIC_HISTOGRAM,
		.find_family = find_family,
		.data = context,
	};

	return names_series__take(yaml, node, &use);
}

int names_family__take(struct dart_yaml *yaml, const yaml_node_t *node, struct names_file *file)
{
	struct item item = {};
	struct context context = { .file = file, .item = &item };
	int ret;

	ret = take_item(yaml, node, &item);
	if (!ret && item.name)
		ret = add_family(yaml, item.name_node, &context, NULL, &context.family);
	return ret ?: dart_yaml__take_list(yaml, item.series, take_one_series, &context);
}
