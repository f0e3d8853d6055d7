/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets and entries to scrape, from the command line and a file. */
#ifndef CONTROLLER_SETTINGS_H
#define CONTROLLER_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#define SETTINGS_INTERVAL_DEFAULT_NS	1000000000ULL
#define SETTINGS_INTERVAL_MIN_NS	100000ULL
#define SETTINGS_INTERVAL_MAX_NS	3600000000000ULL

struct target_settings {
	size_t index;		/* from 0, without gaps */
	char *host;
	char *name;		/* HOST:PORT */
	uint16_t port;
	uint64_t interval_ns;	/* 0: that of all targets */
};

struct settings {
	uint64_t interval_ns;	/* 0: not set */
	char **entries;		/* names or patterns; none: all entries */
	size_t entry_count;
	struct target_settings *targets;
	size_t target_count;
};

/* All return 0, -EINVAL, -EEXIST if already present, or -ENOMEM. */
int settings__add_target(struct settings *settings, const char *host,
			 uint16_t port, uint64_t interval_ns);
int settings__add_entry(struct settings *settings, const char *name);
/* "250us", "100ms", "5s", "1min", from INTERVAL_MIN_NS to _MAX_NS. */
int settings__parse_interval(const char *text, uint64_t *interval_ns);

void settings__clear(struct settings *settings);

#endif /* CONTROLLER_SETTINGS_H */
