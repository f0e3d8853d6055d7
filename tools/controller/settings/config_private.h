/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the parts of the configuration file: config.c has its keys, config_agent.c
 * agents, config_source.c what agents and sources have in common, and sources,
 * config_transport.c transports and certificates, config_outputs.c outputs,
 * config_record.c recordings.
 *
 * All that take return 0; -EINVAL with a sentence in the error, which names the line; or
 * -ENOMEM.
 */
#ifndef CONTROLLER_CONFIG_PRIVATE_H
#define CONTROLLER_CONFIG_PRIVATE_H

#include <libdart/error.h>
#include <libdart/yaml_file.h>

#include "settings.h"

struct config {
	struct dart_yaml yaml;
	const char *path;
	struct shared_text *source; /* of the agents: the path */
	enum settings_transport transport; /* of agents and sources that do not say */
	struct dart_error *error;
};

/* Takes the value of @key of a mapping; -ENOENT if there is no such key. */
typedef int config_value(struct config *config, const char *key,
			 const yaml_node_t *value, void *into);
/* Takes an item of a list. */
typedef int config_item(struct config *config, const yaml_node_t *item,
			void *into);

/* config.c */

const yaml_node_t *config__node(struct config *config, int index);
int config__refuse(struct config *config, const yaml_node_t *node,
		   const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The text of a scalar; NULL if @node is not one or contains a NUL. */
const char *config__text(const yaml_node_t *node);
int config__mapping(struct config *config, const yaml_node_t *node,
		    config_value *take, void *into);
int config__sequence(struct config *config, const yaml_node_t *node,
		     config_item *take, void *into);
int config__interval(struct config *config, const yaml_node_t *value,
		     uint64_t *interval_ns);
/* A new object in @labels, the caller's also after an error; NULL: out of memory. */
int config__labels(struct config *config, const yaml_node_t *value,
		   json_t **labels);
/* A config_item: the name of an entry, into settings. */
int config__entry(struct config *config, const yaml_node_t *item, void *into);

/* config_agent.c */

/* A config_item: an agent, into settings. */
int config__take_agent(struct config *config, const yaml_node_t *item,
		       void *into);

/* config_transport.c */

/* The value of a key "transport". */
int config__transport(struct config *config, const yaml_node_t *value,
		      enum settings_transport *transport);
/*
 * Looks for that key of @root before others are taken, and sets config->transport to its
 * value, or to @chosen on the command line.
 */
int config__find_transport(struct config *config, const yaml_node_t *root,
			   enum settings_transport chosen);
int config__take_tls(struct config *config, const yaml_node_t *value,
		     struct settings *settings);

/* config_record.c */

int config__take_record(struct config *config, const yaml_node_t *value,
			struct settings *settings);

/* config_source.c */

/* The keys that both agents and sources have; -ENOENT if @key is none of them. */
int config__default(struct config *config, const char *key,
		    const yaml_node_t *value, struct target_defaults *defaults);
/* A config_item: a source, into settings. */
int config__take_source(struct config *config, const yaml_node_t *item,
			void *into);

/* config_outputs.c */

/* The value of "outputs"; one that the command line has named stays. */
int config__take_outputs(struct config *config, const yaml_node_t *value,
			 struct settings *settings);

#endif /* CONTROLLER_CONFIG_PRIVATE_H */
