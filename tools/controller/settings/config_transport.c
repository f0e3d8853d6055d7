// SPDX-License-Identifier: GPL-2.0-only
/* Parses what the configuration file says about transports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_private.h"

int config__transport(struct config *config, const yaml_node_t *value,
		      enum settings_transport *transport)
{
	const char *text = config__text(value);

	if (!text || settings__parse_transport(text, transport))
		return config__refuse(
			config, value,
			"'%s' is not a transport (expected read, rpc or tcp)",
			text ? text : "?");
	return 0;
}

int config__find_transport(struct config *config, const yaml_node_t *root,
			   enum settings_transport chosen)
{
	enum settings_transport found = SETTINGS_TRANSPORT_READ;
	const yaml_node_pair_t *pair;
	const char *name;
	int ret = 0;

	if (root->type != YAML_MAPPING_NODE)
		return 0;
	for (pair = root->data.mapping.pairs.start;
	     !ret && pair < root->data.mapping.pairs.top; pair++) {
		name = config__text(config__node(config, pair->key));
		if (name && !strcmp(name, "transport"))
			ret = config__transport(
				config, config__node(config, pair->value),
				&found);
	}
	config->transport = chosen ?: found;
	return ret;
}

static int take_tls_value(struct config *config, const char *key,
			  const yaml_node_t *value, void *into)
{
	const char *text = config__text(value);
	struct settings_tls *tls = into;
	char **path;

	if (!strcmp(key, "certificate"))
		path = &tls->certificate;
	else if (!strcmp(key, "key"))
		path = &tls->key;
	else if (!strcmp(key, "authorities"))
		path = &tls->authorities;
	else if (!strcmp(key, "revoked"))
		path = &tls->revoked;
	else
		return -ENOENT;
	if (!text || !*text)
		return config__refuse(config, value, "expected a path");
	*path = strdup(text);
	return *path ? 0 : -ENOMEM;
}

int config__take_tls(struct config *config, const yaml_node_t *value,
		     struct settings *settings)
{
	struct settings_tls *chosen = &settings->tls;
	struct settings file = { };
	int ret;

	ret = config__mapping(config, value, take_tls_value, &file.tls);
	if (!ret && !chosen->certificate && !chosen->key &&
	    !chosen->authorities && !chosen->revoked) {
		*chosen = file.tls;
		file.tls = (struct settings_tls){ };
	}
	settings__clear(&file);
	return ret;
}
