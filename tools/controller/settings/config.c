// SPDX-License-Identifier: GPL-2.0-only
/* Parses the YAML configuration file. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>

#include "config.h"
#include "config_private.h"
#include "labels.h"

const yaml_node_t *config__node(struct config *config, int index)
{
	return yaml_document_get_node(&config->yaml.document, index);
}

int config__refuse(struct config *config, const yaml_node_t *node,
		   const char *format, ...)
{
	char reason[DART_ERROR_MAX / 2];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	return dart_error__set(config->error, EINVAL, "%s:%zu: %s",
			       config->path,
			       node ? node->start_mark.line + 1 : 1, reason);
}

const char *config__text(const yaml_node_t *node)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE)
		return NULL;
	text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}

int config__mapping(struct config *config, const yaml_node_t *node,
		    config_value *take, void *into)
{
	const yaml_node_pair_t *pair, *earlier;
	const yaml_node_t *name_node, *value;
	const char *name;
	int ret;

	if (node->type != YAML_MAPPING_NODE)
		return config__refuse(config, node, "expected KEY: VALUE lines");
	for (pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		name_node = config__node(config, pair->key);
		name = config__text(name_node);
		for (earlier = node->data.mapping.pairs.start;
		     name && earlier < pair; earlier++) {
			if (!strcmp(name, config__text(config__node(config,
							       earlier->key))))
				return config__refuse(config, name_node,
					      "duplicate key '%s'", name);
		}
		value = config__node(config, pair->value);
		ret = name ? take(config, name, value, into) : -ENOENT;
		if (ret == -ENOENT)
			return config__refuse(config, name_node, "unknown key '%s'",
				      name ? name : "?");
		if (ret)
			return ret;
	}
	return 0;
}

int config__sequence(struct config *config, const yaml_node_t *node,
		     config_item *take, void *into)
{
	const yaml_node_item_t *item;
	int ret = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return config__refuse(config, node, "expected a list");
	for (item = node->data.sequence.items.start;
	     !ret && item < node->data.sequence.items.top; item++)
		ret = take(config, config__node(config, *item), into);
	return ret;
}

int config__interval(struct config *config, const yaml_node_t *value,
		     uint64_t *interval_ns)
{
	const char *text = config__text(value);

	if (!text || settings__parse_interval(text, interval_ns))
		return config__refuse(config, value,
			"'%s' is not an interval (expected 100us to 60min, e.g. 1s)",
			text ? text : "?");
	return 0;
}

static int read_number(struct config *config, const yaml_node_t *value,
		       const char *what, unsigned int max, unsigned int *number)
{
	const char *text = config__text(value);

	if (!text || settings__parse_number(text, max, number))
		return config__refuse(
			config, value,
			"'%s' is not a number of %s (expected 1 to %u)",
			text ? text : "?", what, max);
	return 0;
}

static int take_label(struct config *config, const char *key,
		      const yaml_node_t *value, void *into)
{
	const char *text = config__text(value);
	struct dart_error error;

	if (!text)
		return config__refuse(config, value,
				      "expected the text of label '%s'", key);
	if (labels__add(into, key, text, &error))
		return config__refuse(config, value, "%s", error.text);
	return 0;
}

int config__labels(struct config *config, const yaml_node_t *value,
		   json_t **labels)
{
	*labels = json_object();
	if (!*labels)
		return -ENOMEM;
	return config__mapping(config, value, take_label, *labels);
}

int config__entry(struct config *config, const yaml_node_t *item, void *into)
{
	const char *text = config__text(item);
	int err = text ? settings__add_entry(into, text) : -EINVAL;

	if (err == -EEXIST)
		return config__refuse(config, item, "entry '%s' is named twice", text);
	if (err == -EINVAL)
		return config__refuse(config, item, "expected the name of an entry");
	return err;
}

static int take_flow_value(struct config *config, const char *key,
			   const yaml_node_t *value, void *into)
{
	struct settings *settings = into;
	const char *text = config__text(value);

	if (!strcmp(key, "control")) {
		if (!text || settings__parse_flow(text, &settings->flow))
			return config__refuse(config, value,
				      "'%s' is not a flow control (expected credit, bdp or none)",
				      text ? text : "?");
		return 0;
	}
	if (strcmp(key, "bytes"))
		return -ENOENT;
	if (!text || settings__parse_flow_bytes(text, &settings->flow_bytes))
		return config__refuse(config, value,
			      "'%s' is not a number of bytes (expected 4K to 1G, e.g. 256K)",
			      text ? text : "?");
	return 0;
}

static int take_flow(struct config *config, const yaml_node_t *value,
		     struct settings *settings)
{
	struct settings flow = { };
	int ret;

	ret = config__mapping(config, value, take_flow_value, &flow);
	if (ret)
		return ret;
	if (flow.flow == SETTINGS_FLOW_NONE && flow.flow_bytes)
		return config__refuse(config, value,
			      "flow control 'none' has no bytes");
	if (settings->flow)
		return 0;
	settings->flow = flow.flow ?: SETTINGS_FLOW_CREDIT;
	settings->flow_bytes = flow.flow_bytes;
	return 0;
}

static int take_io_value(struct config *config, const char *key,
			 const yaml_node_t *value, void *into)
{
	struct settings *settings = into;
	const char *text = config__text(value);

	if (!strcmp(key, "fragments"))
		return read_number(config, value, "fragments",
				   SETTINGS_IO_FRAGMENTS_MAX,
				   &settings->io_fragments);
	if (!strcmp(key, "group"))
		return read_number(config, value, "queue pairs",
				   SETTINGS_IO_GROUP_MAX, &settings->io_group);
	if (strcmp(key, "kind"))
		return -ENOENT;
	if (!text || settings__parse_io(text, &settings->io))
		return config__refuse(
			config, value,
			"'%s' is not a kind of I/O (expected event, poll or hybrid)",
			text ? text : "?");
	return 0;
}

static int take_io(struct config *config, const yaml_node_t *value,
		   struct settings *settings)
{
	struct settings io = { };
	int ret;

	ret = config__mapping(config, value, take_io_value, &io);
	if (ret)
		return ret;
	settings->io = settings->io ?: io.io;
	settings->io_fragments = io.io_fragments;
	settings->io_group = io.io_group;
	return 0;
}

/* One of the command line stays. */
static int take_clock_bound(struct config *config, const yaml_node_t *value,
			    struct settings *settings)
{
	const char *text = config__text(value);
	uint64_t bound_ns;

	if (!text || settings__parse_interval(text, &bound_ns))
		return config__refuse(config, value,
				      "'%s' is not a bound of clocks (expected 100us to 60min, e.g. 2s)",
				      text ? text : "?");
	settings->clock_bound_ns = settings->clock_bound_ns ?: bound_ns;
	return 0;
}

static int take_setting(struct config *config, const char *key,
			const yaml_node_t *value, void *into)
{
	struct settings *settings = into, ignored = { };
	unsigned int workers;
	uint64_t interval_ns;
	int ret;

	if (!strcmp(key, "agents"))
		return config__sequence(config, value, config__take_agent,
					settings);
	if (!strcmp(key, "sources"))
		return config__sequence(config, value, config__take_source,
					settings);
	if (!strcmp(key, "flow"))
		return take_flow(config, value, settings);
	if (!strcmp(key, "io"))
		return take_io(config, value, settings);
	if (!strcmp(key, "transport"))
		return 0; /* It was found before. */
	if (!strcmp(key, "tls"))
		return config__take_tls(config, value, settings);
	if (!strcmp(key, "outputs"))
		return config__take_outputs(config, value, settings);
	if (!strcmp(key, "record"))
		return config__take_record(config, value, settings);
	if (!strcmp(key, "entries")) {
		ret = config__sequence(config, value, config__entry,
				    settings->entry_count ? &ignored :
							    settings);
		settings__clear(&ignored);
		return ret;
	}
	if (!strcmp(key, "workers")) {
		ret = read_number(config, value, "workers",
				  SETTINGS_WORKERS_MAX, &workers);
		if (!ret && !settings->workers)
			settings->workers = workers;
		return ret;
	}
	if (!strcmp(key, "handshakes"))
		return read_number(config, value, "handshakes",
				   SETTINGS_HANDSHAKES_MAX,
				   &settings->handshakes);
	if (!strcmp(key, "clock_bound"))
		return take_clock_bound(config, value, settings);
	if (strcmp(key, "interval"))
		return -ENOENT;
	ret = config__interval(config, value, &interval_ns);
	if (!ret && !settings->interval_ns)
		settings->interval_ns = interval_ns;
	return ret;
}

int config__load(struct settings *settings, FILE *file, const char *path,
		 struct dart_error *error)
{
	struct config config = {
		.path = path,
		.error = error,
		.source = shared_text__new(path),
	};
	/* Room for 10,000 agents, each with several labels. */
	static const struct dart_yaml_bounds bounds = {
		.bytes = 16 << 20,
		.nodes = 1000000,
	};
	const yaml_node_t *root;
	int ret;

	if (!config.source)
		return dart_error__set(error, ENOMEM, "%s: out of memory",
				       path);
	ret = dart_yaml__load(&config.yaml, file, path, &bounds, &root,
			      error);
	if (!ret) {
		/* Functions that return -ENOMEM may leave the error to the caller. */
		dart_error__set(error, 0, "%s: out of memory", path);
		ret = root ? config__find_transport(&config, root,
						    settings->transport) ?:
			     config__mapping(&config, root, take_setting,
					     settings) :
			     config__refuse(&config, NULL, "the file is empty");
		dart_yaml__close(&config.yaml);
	}
	shared_text__release(config.source);
	return ret;
}

int config__read(struct settings *settings, const struct settings *own,
		 const char *path, struct dart_error *error)
{
	struct dart_error reason;
	FILE *file;
	int ret;

	dart_error__set(error, 0, "%s: out of memory", path);
	ret = settings__copy(settings, own);
	if (ret)
		return ret;
	file = fopen(path, "re");
	if (!file)
		return dart_error__system(error, errno, "cannot open '%s'",
					  path);
	ret = config__load(settings, file, path, error);
	fclose(file);
	if (!ret && !settings->target_count && !settings->source_count)
		ret = dart_error__set(
			error, EINVAL,
			"%s: the file names neither an agent nor a source",
			path);
	if (!ret && settings__check_tls(settings, &reason))
		ret = dart_error__set(error, EINVAL, "%s: %s", path,
				      reason.text);
	return ret;
}
