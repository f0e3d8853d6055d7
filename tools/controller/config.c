// SPDX-License-Identifier: GPL-2.0-only
/* Parses the YAML configuration file. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/error.h>
#include <yaml.h>

#include "config.h"

/* An item of "agents"; the document owns the text. */
struct config_agent {
	const char *host;
	uint16_t port;
	uint64_t interval_ns;
	uint8_t class;
};

struct config {
	yaml_document_t document;
	const char *path;
	struct dart_error *error;
};

/* Takes the value of @key of a mapping; -ENOENT if there is no such key. */
typedef int take_value(struct config *config, const char *key,
		       const yaml_node_t *value, void *into);

static const yaml_node_t *config__node(struct config *config, int index)
{
	return yaml_document_get_node(&config->document, index);
}

static int __attribute__((format(printf, 3, 4)))
refuse(struct config *config, const yaml_node_t *node, const char *format, ...)
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

/* The text of a scalar; NULL if @node is not one or contains a NUL. */
static const char *text_of(const yaml_node_t *node)
{
	const char *text;

	if (node->type != YAML_SCALAR_NODE)
		return NULL;
	text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}

static int take_mapping(struct config *config, const yaml_node_t *node,
			take_value *take, void *into)
{
	const yaml_node_pair_t *pair, *earlier;
	const yaml_node_t *name_node, *value;
	const char *name;
	int ret;

	if (node->type != YAML_MAPPING_NODE)
		return refuse(config, node, "expected KEY: VALUE lines");
	for (pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		name_node = config__node(config, pair->key);
		name = text_of(name_node);
		for (earlier = node->data.mapping.pairs.start;
		     name && earlier < pair; earlier++) {
			if (!strcmp(name, text_of(config__node(config,
							       earlier->key))))
				return refuse(config, name_node,
					      "duplicate key '%s'", name);
		}
		value = config__node(config, pair->value);
		ret = name ? take(config, name, value, into) : -ENOENT;
		if (ret == -ENOENT)
			return refuse(config, name_node, "unknown key '%s'",
				      name ? name : "?");
		if (ret)
			return ret;
	}
	return 0;
}

static int take_sequence(struct config *config, const yaml_node_t *node,
			 int (*take)(struct config *config,
				     const yaml_node_t *item, void *into),
			 void *into)
{
	const yaml_node_item_t *item;
	int ret = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return refuse(config, node, "expected a list");
	for (item = node->data.sequence.items.start;
	     !ret && item < node->data.sequence.items.top; item++)
		ret = take(config, config__node(config, *item), into);
	return ret;
}

static int read_interval(struct config *config, const yaml_node_t *value,
			 uint64_t *interval_ns)
{
	const char *text = text_of(value);

	if (!text || settings__parse_interval(text, interval_ns))
		return refuse(config, value,
			"'%s' is not an interval (expected 100us to 60min, e.g. 1s)",
			text ? text : "?");
	return 0;
}

static int read_number(struct config *config, const yaml_node_t *value,
		       const char *what, unsigned int max, unsigned int *number)
{
	const char *text = text_of(value);

	if (!text || settings__parse_number(text, max, number))
		return refuse(config, value,
			      "'%s' is not a number of %s (expected 1 to %u)",
			      text ? text : "?", what, max);
	return 0;
}

static int read_port(struct config *config, const yaml_node_t *value,
		     uint16_t *port)
{
	const char *text = text_of(value);
	unsigned long number;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return refuse(config, value, "expected a port");
	number = strtoul(text, &end, 10);
	if (*end || !number || number > UINT16_MAX)
		return refuse(config, value, "'%s' is not a port", text);
	*port = number;
	return 0;
}

static int read_class(struct config *config, const yaml_node_t *value,
		      uint8_t *class)
{
	const char *text = text_of(value);

	if (!text || *text < '0' || *text > '0' + SETTINGS_CLASS_MAX || text[1])
		return refuse(config, value,
			      "'%s' is not a class (expected 0 to %d, 0 first)",
			      text ? text : "?", SETTINGS_CLASS_MAX);
	*class = *text - '0';
	return 0;
}

static int take_agent_value(struct config *config, const char *key,
			    const yaml_node_t *value, void *into)
{
	struct config_agent *agent = into;

	if (!strcmp(key, "port"))
		return read_port(config, value, &agent->port);
	if (!strcmp(key, "interval"))
		return read_interval(config, value, &agent->interval_ns);
	if (!strcmp(key, "class"))
		return read_class(config, value, &agent->class);
	if (strcmp(key, "host"))
		return -ENOENT;
	agent->host = text_of(value);
	if (!agent->host || !*agent->host)
		return refuse(config, value, "expected a name or an address");
	return 0;
}

static int take_agent(struct config *config, const yaml_node_t *item,
		      void *into)
{
	struct config_agent agent = {
		.port = DART_CONTROL_PORT,
		.class = SETTINGS_CLASS_DEFAULT,
	};
	struct settings *settings = into;
	int ret;

	ret = take_mapping(config, item, take_agent_value, &agent);
	if (ret)
		return ret;
	if (!agent.host)
		return refuse(config, item, "an agent has no 'host'");
	ret = settings__add_target(settings, agent.host, agent.port,
				   agent.interval_ns);
	if (ret == -EEXIST)
		return refuse(config, item, "agent '%s' port %u is named twice",
			      agent.host, agent.port);
	if (!ret)
		settings->targets[settings->target_count - 1].class =
			agent.class;
	return ret;
}

static int take_entry(struct config *config, const yaml_node_t *item,
		      void *into)
{
	const char *text = text_of(item);
	int err = text ? settings__add_entry(into, text) : -EINVAL;

	if (err == -EEXIST)
		return refuse(config, item, "entry '%s' is named twice", text);
	if (err == -EINVAL)
		return refuse(config, item, "expected the name of an entry");
	return err;
}

static int take_flow_value(struct config *config, const char *key,
			   const yaml_node_t *value, void *into)
{
	struct settings *settings = into;
	const char *text = text_of(value);

	if (!strcmp(key, "control")) {
		if (!text || settings__parse_flow(text, &settings->flow))
			return refuse(config, value,
				      "'%s' is not a flow control (expected credit, bdp or none)",
				      text ? text : "?");
		return 0;
	}
	if (strcmp(key, "bytes"))
		return -ENOENT;
	if (!text || settings__parse_flow_bytes(text, &settings->flow_bytes))
		return refuse(config, value,
			      "'%s' is not a number of bytes (expected 4K to 1G, e.g. 256K)",
			      text ? text : "?");
	return 0;
}

static int take_flow(struct config *config, const yaml_node_t *value,
		     struct settings *settings)
{
	struct settings flow = { };
	int ret;

	ret = take_mapping(config, value, take_flow_value, &flow);
	if (ret)
		return ret;
	if (flow.flow == SETTINGS_FLOW_NONE && flow.flow_bytes)
		return refuse(config, value,
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
	const char *text = text_of(value);

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
		return refuse(config, value,
			      "'%s' is not a kind of I/O (expected event, poll or hybrid)",
			      text ? text : "?");
	return 0;
}

static int take_io(struct config *config, const yaml_node_t *value,
		   struct settings *settings)
{
	struct settings io = { };
	int ret;

	ret = take_mapping(config, value, take_io_value, &io);
	if (ret)
		return ret;
	settings->io = settings->io ?: io.io;
	settings->io_fragments = io.io_fragments;
	settings->io_group = io.io_group;
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
		return take_sequence(config, value, take_agent, settings);
	if (!strcmp(key, "flow"))
		return take_flow(config, value, settings);
	if (!strcmp(key, "io"))
		return take_io(config, value, settings);
	if (!strcmp(key, "entries")) {
		ret = take_sequence(config, value, take_entry,
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
	if (strcmp(key, "interval"))
		return -ENOENT;
	ret = read_interval(config, value, &interval_ns);
	if (!ret && !settings->interval_ns)
		settings->interval_ns = interval_ns;
	return ret;
}

int config__load(struct settings *settings, FILE *file, const char *path,
		 struct dart_error *error)
{
	struct config config = { .path = path, .error = error };
	const yaml_node_t *root;
	yaml_parser_t parser;
	int ret = -ENOMEM;

	dart_error__set(error, 0, "%s: out of memory", path);
	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_file(&parser, file);
	if (yaml_parser_load(&parser, &config.document)) {
		root = yaml_document_get_root_node(&config.document);
		ret = root ? take_mapping(&config, root, take_setting,
					  settings) :
			     refuse(&config, NULL, "the file is empty");
		yaml_document_delete(&config.document);
	} else if (parser.error != YAML_MEMORY_ERROR) {
		ret = dart_error__set(error, EINVAL, "%s:%zu: not YAML: %s",
				      path, parser.problem_mark.line + 1,
				      parser.problem ? parser.problem : "?");
	}
	yaml_parser_delete(&parser);
	return ret;
}
