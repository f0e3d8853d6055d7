// SPDX-License-Identifier: GPL-2.0-only
/* Reads the configuration file: its settings, agents and sources. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"

/* ---- agents */

struct config {
	struct settings *settings; /* from the command line; the file completes them */
	struct settings file; /* from the file */
	enum settings_transport transport; /* for agents and sources without their own */
	struct shared_text *source; /* names the agents' source: the path of the file */
	/* Read after the settings, wherever they stand. */
	const yaml_node_t *agents, *sources, *outputs;
};

static void close_defaults(struct target_defaults *defaults)
{
	entry_names__release(defaults->entries);
	json_decref(defaults->labels);
	relabel_rules__release(defaults->metric_relabel);
	relabel_rules__release(defaults->relabel);
}

struct agent {
	char *host;
	uint16_t host_port; /* a part of the host; 0: none */
	uint16_t port; /* 0: the port of the host, or else of the transport */
	struct target_defaults defaults;
};

static int take_host(void *object, const struct dart_setting *setting, const char *text,
		     struct dart_error *error)
{
	struct agent *agent = object;
	int err = settings__parse_agent(text, &agent->host, &agent->host_port);

	return err == -EINVAL ? dart_setting__refuse(setting, text, error) : err;
}

static const struct dart_setting agent_rows[] = {
	{ .key = "host", .take = take_host, .noun = "an agent",
	  .expected = "HOST, HOST:PORT or [V6]:PORT" },
	{ .key = "port", .type = DART_SETTING_NUMBER, DART_SETTING_MEMBER(struct agent, port),
	  .least = 1, .most = UINT16_MAX, .noun = "a port" },
};

static const struct dart_settings agent_table = DART_SETTINGS(agent_rows);

static int add_agent(struct dart_yaml *yaml, const yaml_node_t *item, struct config *config,
		     struct agent *agent)
{
	const uint16_t port = agent->port ?: agent->host_port ?:
			      settings__default_port(agent->defaults.transport);
	struct settings *settings = config->settings;
	struct target_settings *target;
	struct dart_error error;
	int ret;

	if (!agent->host)
		return dart_yaml__refuse(yaml, item, "an agent has no 'host'");
	if (agent->port && agent->host_port && agent->port != agent->host_port)
		return dart_yaml__refuse(yaml, item, "agent '%s' has port %u, but its 'port' is %u",
					 agent->host, agent->host_port, agent->port);
	ret = settings__add_target(settings, agent->host, port, agent->defaults.interval_ns);
	if (ret == -EEXIST)
		return dart_yaml__refuse(yaml, item, "agent '%s' port %u is named twice",
					 agent->host, port);
	if (ret == -E2BIG)
		return dart_yaml__refuse(yaml, item, "there are more than %d agents",
					 SETTINGS_TARGETS_MAX);
	if (ret)
		return ret;
	target = &settings->targets[settings->target_count - 1];
	target->transport = agent->defaults.transport;
	target->class = agent->defaults.class;
	target->entries = entry_names__hold(agent->defaults.entries);
	target->source = shared_text__hold(config->source);
	target->metric_relabel = relabel_rules__hold(agent->defaults.metric_relabel);
	ret = labels__text(agent->defaults.labels, NULL, &target->labels, &error);
	return ret == -EINVAL ? dart_yaml__refuse(yaml, item, "%s", error.text) : ret;
}

static int read_agent(struct dart_yaml *yaml, const yaml_node_t *item, void *object)
{
	struct config *config = object;
	struct agent agent = {
		.defaults.class = SETTINGS_CLASS_DEFAULT,
		.defaults.transport = config->transport,
	};
	const struct dart_settings_of places[] = {
		{ .table = &agent_table, .object = &agent },
		{ .table = &target_defaults__table, .object = &agent.defaults },
		{},
	};
	int ret = dart_settings__read(yaml, item, NULL, places) ?:
		  add_agent(yaml, item, config, &agent);

	free(agent.host);
	close_defaults(&agent.defaults);
	return ret;
}

/* ---- sources */

struct source {
	enum source_kind kind;
	char *place; /* NULL: the item has not named it so far */
	uint64_t refresh_ns;
	struct url_settings url;
	struct target_defaults defaults;
};

static int take_place(struct source *source, enum source_kind kind, const char *text,
		      struct dart_error *error)
{
	if (source->place)
		return dart_error__set(error, EINVAL,
				       "a source is either a file_sd, a dns_srv or an http_sd");
	source->kind = kind;
	source->place = strdup(text);
	return source->place ? 0 : dart_error__no_memory(error);
}

static int take_file_sd(void *source, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	return take_place(source, SOURCE_FILE_SD, text, error);
}

static int take_dns_srv(void *source, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	return take_place(source, SOURCE_DNS_SRV, text, error);
}

static int take_http_sd(void *source, const struct dart_setting *setting, const char *text,
			struct dart_error *error)
{
	return take_place(source, SOURCE_HTTP_SD, text, error);
}

#define PLACE							\
	.type = DART_SETTING_TEXT, .noun = "a path, a name or a URL",	\
	DART_SETTING_MEMBER(struct source, place)

static int read_rules(struct dart_yaml *yaml, const yaml_node_t *node, void *object)
{
	struct source *source = object;

	return relabel_rules__read(yaml, node, &source->defaults.relabel);
}

static const struct dart_setting source_rows[] = {
	{ .key = "file_sd", PLACE, .take = take_file_sd },
	{ .key = "dns_srv", PLACE, .take = take_dns_srv },
	{ .key = "http_sd", PLACE, .take = take_http_sd },
	{ .key = "refresh", .type = DART_SETTING_TIME,
	  DART_SETTING_MEMBER(struct source, refresh_ns), .least = SETTINGS_INTERVAL_MIN_NS,
	  .most = SETTINGS_INTERVAL_MAX_NS, .noun = "an interval", .example = "1s" },
	{ .key = "relabel_configs", .read = read_rules },
};

static const struct dart_settings source_table = DART_SETTINGS(source_rows);

static int add_source(struct dart_yaml *yaml, const yaml_node_t *item, struct settings *settings,
		      const struct source *source)
{
	struct source_settings *added;
	struct dart_error error;
	int ret;

	if (!source->place)
		return dart_yaml__refuse(yaml, item,
					 "a source has no 'file_sd', 'dns_srv' or 'http_sd'");
	if (source->kind != SOURCE_HTTP_SD && !url_settings__is_empty(&source->url))
		return dart_yaml__refuse(
			yaml, item,
			"authorities, certificate, key, token_file and headers belong to http_sd");
	ret = url_settings__check(&source->url, &error) ?:
	      settings__name_source(settings, source->kind, source->place, &error);
	if (ret)
		return ret == -EINVAL ? dart_yaml__refuse(yaml, item, "%s", error.text) : ret;
	added = &settings->sources[settings->source_count - 1];
	added->refresh_ns = source->refresh_ns;
	added->defaults = source->defaults;
	entry_names__hold(added->defaults.entries);
	json_incref(added->defaults.labels);
	relabel_rules__hold(added->defaults.metric_relabel);
	relabel_rules__hold(added->defaults.relabel);
	return url_settings__copy(&added->url, &source->url);
}

static int read_source(struct dart_yaml *yaml, const yaml_node_t *item, void *object)
{
	struct config *config = object;
	struct source source = {
		.defaults.class = SETTINGS_CLASS_DEFAULT,
		.defaults.transport = config->transport,
	};
	const struct dart_settings_of places[] = {
		{ .table = &source_table, .object = &source },
		{ .table = &url_settings__table, .object = &source.url },
		{ .table = &target_defaults__table, .object = &source.defaults },
		{},
	};
	int ret = dart_settings__read(yaml, item, NULL, places) ?:
		  add_source(yaml, item, config->settings, &source);

	free(source.place);
	url_settings__clear(&source.url);
	close_defaults(&source.defaults);
	return ret;
}

/* ---- the file */

static int note_agents(struct dart_yaml *yaml, const yaml_node_t *node, void *config)
{
	((struct config *)config)->agents = node;
	return 0;
}

static int note_sources(struct dart_yaml *yaml, const yaml_node_t *node, void *config)
{
	((struct config *)config)->sources = node;
	return 0;
}

static int note_outputs(struct dart_yaml *yaml, const yaml_node_t *node, void *config)
{
	((struct config *)config)->outputs = node;
	return 0;
}

static const struct dart_setting list_rows[] = {
	{ .key = "outputs", .read = note_outputs },
	{ .key = "agents", .read = note_agents },
	{ .key = "sources", .read = note_sources },
};

static const struct dart_settings list_table = DART_SETTINGS(list_rows);

/* Adds the settings of the file that the command line does not have. */
static void merge(struct config *config)
{
	struct settings *settings = config->settings, *file = &config->file;

	/* The transport of a file applies to its agents and sources only. */
	config->transport = settings->transport ?: file->transport ?: SETTINGS_TRANSPORT_READ;
	file->transport = SETTINGS_TRANSPORT_UNSET;
	dart_settings__merge(&settings__table, settings, file);
	/* No option names rules. */
	relabel_rules__release(settings->metric_relabel);
	settings->metric_relabel = relabel_rules__hold(file->metric_relabel);
	relabel_rules__release(settings->relabel);
	settings->relabel = relabel_rules__hold(file->relabel);
	if (settings->entry_count)
		return;
	settings->entries = file->entries;
	settings->entry_count = file->entry_count;
	file->entries = NULL;
	file->entry_count = 0;
}

static int read_root(struct dart_yaml *yaml, const yaml_node_t *root, struct config *config)
{
	const struct dart_settings_of places[] = {
		{ .table = &settings__table, .object = &config->file },
		{ .table = &list_table, .object = config },
		{},
	};
	int ret = dart_settings__read(yaml, root, NULL, places);

	if (!ret) {
		merge(config);
		if (config->outputs)
			ret = output_settings__read(&config->settings->outputs, yaml,
						    config->outputs);
		if (!ret && config->agents)
			ret = dart_yaml__take_list(yaml, config->agents, read_agent, config);
		if (!ret && config->sources)
			ret = dart_yaml__take_list(yaml, config->sources, read_source, config);
	}
	settings__clear(&config->file);
	return ret;
}

int config__load(struct settings *settings, FILE *file, const char *path, struct dart_error *error)
{
	/* Room for 10,000 agents, each with several labels. */
	static const struct dart_yaml_bounds bounds = {
		.bytes = 16 << 20,
		.nodes = 1000000,
	};
	struct config config = {
		.settings = settings,
		.source = shared_text__new(path),
	};
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret;

	if (!config.source)
		return dart_error__set(error, ENOMEM, "%s: out of memory", path);
	ret = dart_yaml__load(&yaml, file, path, &bounds, &root, error);
	if (!ret) {
		/* Functions that return -ENOMEM may leave the error to the caller. */
		dart_error__set(error, 0, "%s: out of memory", path);
		ret = root ? read_root(&yaml, root, &config) :
			     dart_error__set(error, EINVAL, "%s:1: the file is empty", path);
		dart_yaml__close(&yaml);
	}
	shared_text__release(config.source);
	return ret;
}

int config__read(struct settings *settings, const struct settings *own, const char *path,
		 struct dart_error *error)
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
		return dart_error__system(error, errno, "cannot open '%s'", path);
	ret = config__load(settings, file, path, error);
	fclose(file);
	if (!ret && !settings->target_count && !settings->source_count)
		ret = dart_error__set(error, EINVAL,
				      "%s: the file names neither an agent nor a source", path);
	if (ret)
		return ret;
	ret = settings__check_tls(settings, &reason)	    ?:
		      shard__check(&settings->shard, &reason) ?:
		      settings__label_replica(settings, &reason);
	return ret ? dart_error__set(error, -ret, "%s: %s", path, reason.text) : 0;
}
