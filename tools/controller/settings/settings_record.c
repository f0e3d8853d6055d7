// SPDX-License-Identifier: GPL-2.0-only
/* Settings of recordings: where to, and how much is kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

int settings__parse_record_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMGT";
	uint64_t value = 0;
	const char *c = text, *unit;

	for (; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (*c - '0');
		if (value > SETTINGS_RECORD_SIZE_MAX)
			return -EINVAL;
	}
	if (*c) {
		unit = strchr(units, *c);
		if (!unit || c[1] ||
		    value > SETTINGS_RECORD_SIZE_MAX >> 10 * (unit - units + 1))
			return -EINVAL;
		value <<= 10 * (unit - units + 1);
	}
	if (value < SETTINGS_RECORD_SIZE_MIN ||
	    value > SETTINGS_RECORD_SIZE_MAX)
		return -EINVAL;
	*size = value;
	return 0;
}

int settings__parse_record_files(const char *text, unsigned int *files)
{
	return settings__parse_number(text, SETTINGS_RECORD_FILES_MAX, files);
}

int settings_record__set_path(struct settings_record *record, const char *path)
{
	free(record->path);
	record->path = strdup(path);
	return record->path ? 0 : -ENOMEM;
}

int settings_record__copy(struct settings_record *copy,
			  const struct settings_record *record)
{
	*copy = *record;
	copy->path = record->path ? strdup(record->path) : NULL;
	return record->path && !copy->path ? -ENOMEM : 0;
}

bool settings_record__equal(const struct settings_record *one,
			    const struct settings_record *other)
{
	return one->size == other->size && one->files == other->files &&
	       (one->path && other->path ? !strcmp(one->path, other->path) :
					   one->path == other->path);
}

struct settings_record
settings_record__complete(const struct settings_record *record)
{
	return (struct settings_record){
		.path = record->path,
		.size = record->size ?: SETTINGS_RECORD_SIZE_DEFAULT,
		.files = record->files ?: 1,
	};
}
