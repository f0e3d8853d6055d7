// SPDX-License-Identifier: GPL-2.0-only
/* Parses what agents and sources of agents have in common, and sources. */
#include <errno.h>
#include <string.h>

#include "config_private.h"

/* An item of "sources"; the document owns the text. */
struct config_source {
	enum source_kind kind;
	const char *place; /* NULL: not named so far */
	uint64_t refresh_ns;
	struct target_defaults defaults;
};

static int read_class(struct config *config, const yaml_node_t *value,
		      uint8_t *class)
{
	const char *text = config__text(value);

	if (!text || *text < '0' || *text > '0' + SETTINGS_CLASS_MAX || text[1])
		return config__refuse(
			config, value,
			"'%s' is not a class (expected 0 to %d, 0 first)",
			text ? text : "?", SETTINGS_CLASS_MAX);
	*class = *text - '0';
	return 0;
}

static int read_entries(struct config *config, const yaml_node_t *value,
			struct entry_names **names)
{
	struct settings entries = {};
	int ret;

	ret = config__sequence(config, value, config__entry, &entries);
	if (!ret) {
		*names = entry_names__new(entries.entries, entries.entry_count);
		ret = *names ? 0 : -ENOMEM;
	}
	settings__clear(&entries);
	return ret;
}

int config__default(struct config *config, const char *key,
		    const yaml_node_t *value, struct target_defaults *defaults)
{
	if (!strcmp(key, "transport"))
		return config__transport(config, value, &defaults->transport);
	if (!strcmp(key, "interval"))
		return config__interval(config, value, &defaults->interval_ns);
	if (!strcmp(key, "class"))
		return read_class(config, value, &defaults->class);
	if (!strcmp(key, "labels"))
		return config__labels(config, value, &defaults->labels);
	if (!strcmp(key, "entries"))
		return read_entries(config, value, &defaults->entries);
	return -ENOENT;
}

static int read_place(struct config *config, const yaml_node_t *value,
		      enum source_kind kind, struct config_source *source)
{
	if (source->place)
		return config__refuse(
			config, value,
			"a source is either a file_sd, a dns_srv or an http_sd");
	source->kind = kind;
	source->place = config__text(value);
	if (!source->place)
		return config__refuse(config, value,
				      "expected a path, a name or a URL");
	return 0;
}

static int take_source_value(struct config *config, const char *key,
			     const yaml_node_t *value, void *into)
{
	struct config_source *source = into;

	if (!strcmp(key, "file_sd"))
		return read_place(config, value, SOURCE_FILE_SD, source);
	if (!strcmp(key, "dns_srv"))
		return read_place(config, value, SOURCE_DNS_SRV, source);
	if (!strcmp(key, "http_sd"))
		return read_place(config, value, SOURCE_HTTP_SD, source);
	if (!strcmp(key, "refresh"))
		return config__interval(config, value, &source->refresh_ns);
	return config__default(config, key, value, &source->defaults);
}

static int add_source(struct config *config, const yaml_node_t *item,
		      const struct config_source *source,
		      struct settings *settings)
{
	struct source_settings *added;
	struct shared_text *name;
	int ret;

	if (!source->place)
		return config__refuse(
			config, item,
			"a source has no 'file_sd', 'dns_srv' or 'http_sd'");
	ret = settings__add_source(settings, source->kind, source->place);
	name = source_kind__name(source->kind, source->place);
	if (ret == -EINVAL)
		config__refuse(config, item, "'%s' is not %s",
			       name ? name->text : "?",
			       source_kind__expected(source->kind));
	else if (ret == -EEXIST)
		ret = config__refuse(config, item, "source '%s' is named twice",
				     name ? name->text : "?");
	shared_text__release(name);
	if (ret == -E2BIG)
		return config__refuse(config, item,
				      "there are more than %d sources",
				      SETTINGS_SOURCES_MAX);
	if (ret)
		return ret;
	added = &settings->sources[settings->source_count - 1];
	added->refresh_ns = source->refresh_ns;
	added->defaults = source->defaults;
	entry_names__hold(added->defaults.entries);
	json_incref(added->defaults.labels);
	return 0;
}

int config__take_source(struct config *config, const yaml_node_t *item,
			void *into)
{
	struct config_source source = {
		.defaults.class = SETTINGS_CLASS_DEFAULT,
		.defaults.transport = config->transport,
	};
	int ret;

	ret = config__mapping(config, item, take_source_value, &source) ?:
		      add_source(config, item, &source, into);
	entry_names__release(source.defaults.entries);
	json_decref(source.defaults.labels);
	return ret;
}
