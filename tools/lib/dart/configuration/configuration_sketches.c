// SPDX-License-Identifier: LGPL-2.1-or-later
/* The sketches and sketchers in a configuration file. */
#include <string.h>

#include <dart/sketch.h>
#include <dart/sketch_access.h>
#include <libdart/configuration/configuration_loader_internal.h>
#include <libdart/settings/quantity.h>
#include <libdart/sketch/sketch.h>

#define NS_PER_S UINT64_C(1000000000)

struct sketch {
	const char *name, *kind, *file;
	const yaml_node_t *sketchers; /* NULL: none */
	long long columns_log2, rows, period, parts; /* -1: not given */
};

static int take_columns(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_power(yaml, node, DART_SKETCH_COLUMNS_LOG2_MAX, into);
}

static int take_rows(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, 1, DART_SKETCH_ROWS_MAX, into);
}

/* Takes whole seconds. */
static int take_period(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	long long *period = into;
	const char *text;
	uint64_t ns;
	int ret = dart_configuration__take_text(yaml, node, &text);

	if (ret)
		return ret;
	if (dart_quantity__parse(DART_QUANTITY_TIME, text, NS_PER_S,
				 DART_SKETCH_PERIOD_MAX * NS_PER_S, &ns) ||
	    ns % NS_PER_S)
		return dart_yaml__refuse(yaml, node,
					 "'%s' is not a period of whole seconds, 1s to %us", text,
					 DART_SKETCH_PERIOD_MAX);
	*period = ns / NS_PER_S;
	return 0;
}

static int take_parts(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, 1, DART_SKETCH_PARTS_MAX, into);
}

static int take_kind(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char **kind = into;
	int ret = dart_configuration__take_text(yaml, node, kind);

	if (!ret && dart_sketch_kind__find(*kind) < 0)
		ret = dart_yaml__refuse(yaml, node, "'%s' is not 'count-min' or 'count-sketch'",
					*kind);
	return ret;
}

/* The item of the sketch comes before the items of its sketchers. */
static int take_sketchers(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const yaml_node_t **sketchers = into;

	*sketchers = node;
	return 0;
}

static int check_sketch(struct dart_yaml *yaml, const yaml_node_t *item,
			const struct sketch *sketch)
{
	if (!sketch->name || sketch->columns_log2 < 0)
		return dart_yaml__refuse(yaml, item, "the sketch has no '%s'",
					 sketch->name ? "columns" : "name");
	if (strlen(sketch->name) >= DART_SKETCH_NAME_MAX)
		return dart_yaml__refuse(yaml, item,
					 "the name of a sketch has at most %d bytes: '%s'",
					 DART_SKETCH_NAME_MAX - 1, sketch->name);
	if (sketch->columns_log2 < DART_SKETCH_COLUMNS_LOG2_MIN)
		return dart_yaml__refuse(yaml, item, "a row has at least %d columns",
					 1 << DART_SKETCH_COLUMNS_LOG2_MIN);
	return dart_configuration__check_path(yaml, item, sketch->file);
}

static int add_sketch(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
		      const yaml_node_t *item, const struct sketch *sketch)
{
	char identity[64 + DART_SKETCH_NAME_MAX];
	int ret = check_sketch(yaml, item, sketch);

	if (ret)
		return ret;
	snprintf(identity, sizeof(identity), "sketch '%s'", sketch->name);
	ret = dart_configuration_loader__claim(loader, yaml, item, identity, identity);
	if (!ret && sketch->file)
		ret = dart_configuration_loader__claim(loader, yaml, item, sketch->file,
						       sketch->file);
	if (ret)
		return ret;
	return dart_configuration_loader__add(
		loader, yaml, item,
		json_pack("{s:s, s:s, s:I, s:s*, s:o*, s:o*, s:o*, s:s*}", "request",
			  "sketch-create", "name", sketch->name, "columns_log2",
			  (json_int_t)sketch->columns_log2, "kind", sketch->kind, "rows",
			  dart_configuration__optional(sketch->rows), "period",
			  dart_configuration__optional(sketch->period), "parts",
			  dart_configuration__optional(sketch->parts), "file", sketch->file),
		sketch->file);
}

static int take_sketch(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_configuration__take_text, offsetof(struct sketch, name) },
		{ "columns", take_columns, offsetof(struct sketch, columns_log2) },
		{ "kind", take_kind, offsetof(struct sketch, kind) },
		{ "rows", take_rows, offsetof(struct sketch, rows) },
		{ "period", take_period, offsetof(struct sketch, period) },
		{ "parts", take_parts, offsetof(struct sketch, parts) },
		{ "file", dart_configuration__take_text, offsetof(struct sketch, file) },
		{ "sketchers", take_sketchers, offsetof(struct sketch, sketchers) },
		{}
	};
	struct sketch sketch = { .columns_log2 = -1, .rows = -1, .period = -1, .parts = -1 };
	struct dart_configuration_hosts hosts = {
		.loader = into,
		.host = "sketcher",
		.object = "sketch",
		.request = "sketcher-add",
	};
	int ret, taken;

	ret = dart_yaml__take_mapping(yaml, item, members, &sketch) ?:
		      add_sketch(into, yaml, item, &sketch);
	if (!sketch.sketchers || !dart_yaml__goes_on(yaml, ret))
		return ret;
	hosts.name = sketch.name ?: "?";
	taken = dart_yaml__take_list(yaml, sketch.sketchers, dart_configuration__take_host_of,
				     &hosts);
	return taken ?: ret;
}

int dart_configuration__take_sketches(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_sketch, into);
}
