// SPDX-License-Identifier: GPL-2.0-only
/* Parses the agents of the configuration file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>

#include "config_private.h"
#include "labels.h"

/* An item of "agents". */
struct config_agent {
	char *host; /* owned */
	uint16_t host_port; /* that is part of 'host'; 0: there is none */
	uint16_t port; /* 0: that of the host, or else of the transport */
	struct target_defaults defaults;
};

static int read_port(struct config *config, const yaml_node_t *value,
		     uint16_t *port)
{
	const char *text = config__text(value);
	unsigned long number;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return config__refuse(config, value, "expected a port");
	number = strtoul(text, &end, 10);
	if (*end || !number || number > UINT16_MAX)
		return config__refuse(config, value, "'%s' is not a port", text);
	*port = number;
	return 0;
}

/* As the command line has it. */
static int read_host(struct config *config, const yaml_node_t *value,
		     struct config_agent *agent)
{
	const char *text = config__text(value);
	int err = text ? settings__parse_agent(text, &agent->host, &agent->host_port) : -EINVAL;

	return err == -EINVAL ?
		       config__refuse(
			       config, value,
			       "'%.300s' is not an agent (expected HOST, HOST:PORT or [V6]:PORT)",
			       text ?: "?") :
		       err;
}

static int take_agent_value(struct config *config, const char *key,
			    const yaml_node_t *value, void *into)
{
	struct config_agent *agent = into;

	if (!strcmp(key, "port"))
		return read_port(config, value, &agent->port);
	if (strcmp(key, "host"))
		return config__default(config, key, value, &agent->defaults);
	return read_host(config, value, agent);
}

static int add_agent(struct config *config, const yaml_node_t *item,
		     struct config_agent *agent, struct settings *settings)
{
	const uint16_t port = agent->port ?: agent->host_port ?:
		settings__default_port(agent->defaults.transport);
	struct target_settings *target;
	struct dart_error error;
	int ret;

	if (!agent->host)
		return config__refuse(config, item, "an agent has no 'host'");
	if (agent->port && agent->host_port && agent->port != agent->host_port)
		return config__refuse(config, item,
				      "agent '%s' has port %u, but its 'port' is %u",
				      agent->host, agent->host_port, agent->port);
	ret = settings__add_target(settings, agent->host, port,
				   agent->defaults.interval_ns);
	if (ret == -EEXIST)
		return config__refuse(config, item,
				      "agent '%s' port %u is named twice",
				      agent->host, port);
	if (ret == -E2BIG)
		return config__refuse(config, item,
				      "there are more than %d agents",
				      SETTINGS_TARGETS_MAX);
	if (ret)
		return ret;
	target = &settings->targets[settings->target_count - 1];
	target->transport = agent->defaults.transport;
	target->class = agent->defaults.class;
	target->entries = entry_names__hold(agent->defaults.entries);
	target->source = shared_text__hold(config->source);
	ret = labels__text(agent->defaults.labels, NULL, &target->labels,
			   &error);
	return ret == -EINVAL ? config__refuse(config, item, "%s", error.text) :
				ret;
}

int config__take_agent(struct config *config, const yaml_node_t *item,
		       void *into)
{
	struct config_agent agent = {
		.defaults.class = SETTINGS_CLASS_DEFAULT,
		.defaults.transport = config->transport,
	};
	int ret;

	ret = config__mapping(config, item, take_agent_value, &agent) ?:
	      add_agent(config, item, &agent, into);
	free(agent.host);
	entry_names__release(agent.defaults.entries);
	json_decref(agent.defaults.labels);
	return ret;
}
