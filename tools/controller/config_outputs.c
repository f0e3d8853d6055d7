// SPDX-License-Identifier: GPL-2.0-only
/* Parses the outputs of the configuration file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_private.h"
#include "http/http_address.h"

static int take_listen(struct config *config, const yaml_node_t *value,
		       struct output_settings *outputs)
{
	const char *text = config__text(value);

	if (!text || !http_address__is_valid(text))
		return config__refuse(
			config, value,
			"'%s' is not an address to listen at (expected HOST:PORT, [V6]:PORT or :PORT)",
			text ?: "?");
	if (outputs->listen)
		return config__refuse(config, value,
				      "there are two outputs that listen");
	outputs->listen = strdup(text);
	return outputs->listen ? 0 : -ENOMEM;
}

static int take_value(struct config *config, const char *key,
		      const yaml_node_t *value, void *into)
{
	return strcmp(key, "listen") ? -ENOENT :
				       take_listen(config, value, into);
}

static int take_output(struct config *config, const yaml_node_t *item,
		       void *into)
{
	return config__mapping(config, item, take_value, into);
}

int config__take_outputs(struct config *config, const yaml_node_t *value,
			 struct settings *settings)
{
	struct output_settings *chosen = &settings->outputs;
	struct output_settings file = { };
	int ret = config__sequence(config, value, take_output, &file);

	if (!ret && !chosen->listen) {
		chosen->listen = file.listen;
		file.listen = NULL;
	}
	output_settings__clear(&file);
	return ret;
}
