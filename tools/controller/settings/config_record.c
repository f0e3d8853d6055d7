// SPDX-License-Identifier: GPL-2.0-only
/* The key "record" of the configuration file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_private.h"

static int take_value(struct config *config, const char *key,
		      const yaml_node_t *value, void *into)
{
	struct settings_record *record = into;
	const char *text = config__text(value);

	if (!strcmp(key, "file")) {
		if (!text || !*text)
			return config__refuse(config, value,
					      "expected the path of a file");
		return settings_record__set_path(record, text);
	}
	if (!strcmp(key, "size")) {
		if (!text || settings__parse_record_size(text, &record->size))
			return config__refuse(config, value,
				"'%s' is not the size of a recording (expected 1M to 16T, e.g. 1G)",
				text ? text : "?");
		return 0;
	}
	if (strcmp(key, "files"))
		return -ENOENT;
	if (!text || settings__parse_record_files(text, &record->files))
		return config__refuse(config, value,
			"'%s' is not a number of files (expected 1 to 1000)",
			text ? text : "?");
	return 0;
}

int config__take_record(struct config *config, const yaml_node_t *value,
			struct settings *settings)
{
	struct settings_record *own = &settings->record;
	struct settings_record record = { };
	int ret;

	ret = config__mapping(config, value, take_value, &record);
	if (!ret && !record.path)
		ret = config__refuse(config, value,
				     "'record' needs a 'file'");
	/* The command line takes precedence. */
	if (!ret && !own->path)
		ret = settings_record__set_path(own, record.path);
	own->size = own->size ?: record.size;
	own->files = own->files ?: record.files;
	free(record.path);
	return ret;
}
