// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the targets and entries to scrape. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/rdma/address.h>

#include "settings.h"

int settings__add_target(struct settings *settings, const char *host,
			 uint16_t port, uint64_t interval_ns)
{
	struct target_settings *targets;
	char *name = NULL, *copy = NULL;
	int err = -ENOMEM;
	size_t i;

	if (!*host || !port)
		return -EINVAL;
	name = dart_address__name(host, port);
	copy = strdup(host);
	if (!name || !copy)
		goto err_free;
	for (i = 0; i < settings->target_count; i++) {
		if (!strcmp(settings->targets[i].name, name)) {
			err = -EEXIST;
			goto err_free;
		}
	}

	targets = reallocarray(settings->targets, settings->target_count + 1,
			       sizeof(*targets));
	if (!targets)
		goto err_free;
	settings->targets = targets;
	targets[settings->target_count] = (struct target_settings){
		.index = settings->target_count,
		.host = copy,
		.name = name,
		.port = port,
		.interval_ns = interval_ns,
		.class = SETTINGS_CLASS_DEFAULT,
	};
	settings->target_count++;
	return 0;

err_free:
	free(name);
	free(copy);
	return err;
}

int settings__add_entry(struct settings *settings, const char *name)
{
	char **entries, *copy;
	size_t i;

	if (!*name || strlen(name) >= DART_CONTROL_NAME_MAX)
		return -EINVAL;
	for (i = 0; i < settings->entry_count; i++) {
		if (!strcmp(settings->entries[i], name))
			return -EEXIST;
	}
	entries = reallocarray(settings->entries, settings->entry_count + 1,
			       sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	settings->entries = entries;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	entries[settings->entry_count++] = copy;
	return 0;
}

int settings__parse_interval(const char *text, uint64_t *interval_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "min", 60000000000 },
	};
	uint64_t value = 0;
	const char *c = text;
	size_t i;

	for (; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (*c - '0');
		if (value > SETTINGS_INTERVAL_MAX_NS)
			return -EINVAL;
	}
	if (c == text)
		return -EINVAL;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(c, units[i].name))
			continue;
		if (value > SETTINGS_INTERVAL_MAX_NS / units[i].ns ||
		    value * units[i].ns < SETTINGS_INTERVAL_MIN_NS)
			return -EINVAL;
		*interval_ns = value * units[i].ns;
		return 0;
	}
	return -EINVAL;
}

int settings__parse_flow(const char *text, enum settings_flow *flow)
{
	static const char *const names[] = {
		[SETTINGS_FLOW_CREDIT] = "credit",
		[SETTINGS_FLOW_BDP] = "bdp",
		[SETTINGS_FLOW_NONE] = "none",
	};

	for (int i = SETTINGS_FLOW_CREDIT; i <= SETTINGS_FLOW_NONE; i++) {
		if (strcmp(text, names[i]))
			continue;
		*flow = i;
		return 0;
	}
	return -EINVAL;
}

int settings__parse_flow_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMG";
	uint64_t value = 0;
	const char *c = text, *unit;

	for (; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (*c - '0');
		if (value > SETTINGS_FLOW_BYTES_MAX)
			return -EINVAL;
	}
	if (*c) {
		unit = strchr(units, *c);
		if (!unit || c[1])
			return -EINVAL;
		/* Below 2^30 and shifted by 30 at most. */
		value <<= 10 * (unit - units + 1);
	}
	if (value < SETTINGS_FLOW_BYTES_MIN || value > SETTINGS_FLOW_BYTES_MAX)
		return -EINVAL;
	*bytes = value;
	return 0;
}

int settings__parse_io(const char *text, enum settings_io *io)
{
	static const char *const names[] = {
		[SETTINGS_IO_EVENT] = "event",
		[SETTINGS_IO_POLL] = "poll",
		[SETTINGS_IO_HYBRID] = "hybrid",
	};

	for (int i = SETTINGS_IO_EVENT; i <= SETTINGS_IO_HYBRID; i++) {
		if (strcmp(text, names[i]))
			continue;
		*io = i;
		return 0;
	}
	return -EINVAL;
}

int settings__parse_number(const char *text, unsigned int max,
			   unsigned int *number)
{
	unsigned int value = 0;
	const char *c;

	for (c = text; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (*c - '0');
		if (value > max)
			return -EINVAL;
	}
	if (*c || !value)
		return -EINVAL;
	*number = value;
	return 0;
}

int settings__parse_workers(const char *text, unsigned int *workers)
{
	return settings__parse_number(text, SETTINGS_WORKERS_MAX, workers);
}

void settings__clear(struct settings *settings)
{
	size_t i;

	for (i = 0; i < settings->target_count; i++) {
		free(settings->targets[i].host);
		free(settings->targets[i].name);
	}
	free(settings->targets);
	for (i = 0; i < settings->entry_count; i++)
		free(settings->entries[i]);
	free(settings->entries);
	memset(settings, 0, sizeof(*settings));
}
