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
};

struct config {
	yaml_document_t document;
	const char *path;
	struct dart_error *error;
};

/* A key that a mapping may have, and the function that takes its value. */
struct config_key {
	const char *name;
	int (*take)(struct config *config, const yaml_node_t *value,
		    void *into);
};

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
			const struct config_key *keys, void *into)
{
	const struct config_key *key;
	yaml_node_pair_t *pair, *earlier;
	const char *name;
	int err;

	if (node->type != YAML_MAPPING_NODE)
		return refuse(config, node, "expected KEY: VALUE lines");
	for (pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		yaml_node_t *name_node = yaml_document_get_node(
			&config->document, pair->key);

		name = text_of(name_node);
		for (key = keys; name && key->name; key++) {
			if (!strcmp(key->name, name))
				break;
		}
		if (!name || !key->name)
			return refuse(config, name_node, "unknown key '%s'",
				      name ? name : "?");
		for (earlier = node->data.mapping.pairs.start; earlier < pair;
		     earlier++) {
			if (!strcmp(name, text_of(yaml_document_get_node(
					&config->document, earlier->key))))
				return refuse(config, name_node,
					      "duplicate key '%s'", name);
		}
		err = key->take(config,
				yaml_document_get_node(&config->document,
						       pair->value), into);
		if (err)
			return err;
	}
	return 0;
}

static int take_sequence(struct config *config, const yaml_node_t *node,
			 int (*take)(struct config *config,
				     const yaml_node_t *item, void *into),
			 void *into)
{
	yaml_node_item_t *item;
	int err;

	if (node->type != YAML_SEQUENCE_NODE)
		return refuse(config, node, "expected a list");
	for (item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		err = take(config, yaml_document_get_node(&config->document,
							  *item), into);
		if (err)
			return err;
	}
	return 0;
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

static int take_agent_host(struct config *config, const yaml_node_t *value,
			   void *into)
{
	struct config_agent *agent = into;
	const char *text = text_of(value);

	if (!text || !*text)
		return refuse(config, value, "expected a name or an address");
	agent->host = text;
	return 0;
}

static int take_agent_port(struct config *config, const yaml_node_t *value,
			   void *into)
{
	struct config_agent *agent = into;
	const char *text = text_of(value);
	unsigned long port;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return refuse(config, value, "expected a port");
	port = strtoul(text, &end, 10);
	if (*end || !port || port > UINT16_MAX)
		return refuse(config, value, "'%s' is not a port", text);
	agent->port = port;
	return 0;
}

static int take_agent_interval(struct config *config, const yaml_node_t *value,
			       void *into)
{
	struct config_agent *agent = into;

	return read_interval(config, value, &agent->interval_ns);
}

static int take_agent(struct config *config, const yaml_node_t *item,
		      void *into)
{
	static const struct config_key keys[] = {
		{ "host", take_agent_host },
		{ "port", take_agent_port },
		{ "interval", take_agent_interval },
		{ }
	};
	struct config_agent agent = { .port = DART_CONTROL_PORT };
	int err;

	err = take_mapping(config, item, keys, &agent);
	if (err)
		return err;
	if (!agent.host)
		return refuse(config, item, "an agent has no 'host'");
	err = settings__add_target(into, agent.host, agent.port,
				   agent.interval_ns);
	if (err == -EEXIST)
		return refuse(config, item, "agent '%s' port %u is named twice",
			      agent.host, agent.port);
	return err;
}

static int take_agents(struct config *config, const yaml_node_t *value,
		       void *into)
{
	return take_sequence(config, value, take_agent, into);
}

static int take_interval(struct config *config, const yaml_node_t *value,
			 void *into)
{
	struct settings *settings = into;
	uint64_t interval_ns;
	int err;

	err = read_interval(config, value, &interval_ns);
	if (!err && !settings->interval_ns)
		settings->interval_ns = interval_ns;
	return err;
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

static int take_entries(struct config *config, const yaml_node_t *value,
			void *into)
{
	struct settings *settings = into, ignored = { };
	int err;

	if (!settings->entry_count)
		return take_sequence(config, value, take_entry, settings);
	err = take_sequence(config, value, take_entry, &ignored);
	settings__clear(&ignored);
	return err;
}

static int take_document(struct config *config, struct settings *settings)
{
	static const struct config_key keys[] = {
		{ "interval", take_interval },
		{ "entries", take_entries },
		{ "agents", take_agents },
		{ }
	};
	yaml_node_t *root = yaml_document_get_root_node(&config->document);

	if (!root)
		return refuse(config, NULL, "the file is empty");
	return take_mapping(config, root, keys, settings);
}

int config__load(struct settings *settings, FILE *file, const char *path,
		 struct dart_error *error)
{
	struct config config = { .path = path, .error = error };
	yaml_parser_t parser;
	int err;

	dart_error__set(error, 0, "%s: out of memory", path);
	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_file(&parser, file);
	if (!yaml_parser_load(&parser, &config.document)) {
		err = parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EINVAL;
		if (err == -EINVAL)
			dart_error__set(error, 0, "%s:%zu: not YAML: %s", path,
					parser.problem_mark.line + 1,
					parser.problem ? parser.problem : "?");
		goto out;
	}
	err = take_document(&config, settings);
	yaml_document_delete(&config.document);
out:
	yaml_parser_delete(&parser);
	return err;
}
