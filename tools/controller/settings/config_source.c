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
	struct url_settings url; /* owned */
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

static int read_path(struct config *config, const yaml_node_t *value, char **path)
{
	const char *text = config__text(value);

	if (!text || !*text)
		return config__refuse(config, value, "expected a path");
	*path = strdup(text);
	return *path ? 0 : -ENOMEM;
}

static int take_header(struct config *config, const char *key,
		       const yaml_node_t *value, void *into)
{
	const char *text = config__text(value);
	struct dart_error error;
	int ret;

	if (!text)
		return config__refuse(config, value, "expected a text");
	ret = url_settings__add_header(into, key, text, &error);
	return ret == -EINVAL ? config__refuse(config, value, "%s", error.text) :
				ret;
}

/* A key of struct url_settings; -ENOENT if @key is another one. */
static int read_url(struct config *config, const char *key,
		    const yaml_node_t *value, struct url_settings *url)
{
	if (!strcmp(key, "authorities"))
		return read_path(config, value, &url->authorities);
	if (!strcmp(key, "certificate"))
		return read_path(config, value, &url->certificate);
	if (!strcmp(key, "key"))
		return read_path(config, value, &url->key);
	if (!strcmp(key, "token_file"))
		return read_path(config, value, &url->token_file);
	if (!strcmp(key, "headers"))
		return config__mapping(config, value, take_header, url);
	return -ENOENT;
}

static int take_source_value(struct config *config, const char *key,
			     const yaml_node_t *value, void *into)
{
	struct config_source *source = into;
	int ret = read_url(config, key, value, &source->url);

	if (ret != -ENOENT)
		return ret;
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
	struct dart_error error;
	struct shared_text *name;
	int ret;

	if (!source->place)
		return config__refuse(
			config, item,
			"a source has no 'file_sd', 'dns_srv' or 'http_sd'");
	if (source->kind != SOURCE_HTTP_SD && !url_settings__is_empty(&source->url))
		return config__refuse(
			config, item,
			"authorities, certificate, key, token_file and headers belong to http_sd");
	if (url_settings__check(&source->url, &error))
		return config__refuse(config, item, "%s", error.text);
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
	return url_settings__copy(&added->url, &source->url);
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
	url_settings__clear(&source.url);
	return ret;
}
