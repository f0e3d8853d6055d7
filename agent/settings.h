/* SPDX-License-Identifier: GPL-2.0-only */
/* The settings of dartd: from the configuration, unless the command line overrides them. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <libdart/configuration/configuration.h>

#include "agent/rdma/listener.h"
#include "agent/serve/tcp_listener.h"
#include "options.h"

struct settings {
	enum dart_control_exposure exposure;
	enum dart_configuration_gatherer gatherer;
	char *device;		/* NULL: the first one */
	uint8_t dscp;		/* 0: the peers' choice */
	uint8_t rest;		/* as in struct region */
	struct listener_place place;
	struct tcp_place tcp;	/* port 0: it does not listen */
};

/* The settings own their texts; -ENOMEM. */
int settings__open(struct settings *settings, const struct options *options,
		   const struct dart_configuration *configuration, struct dart_error *error);
void settings__close(struct settings *settings);

/* Bytes of the names of all settings. */
#define SETTINGS_NAMES_MAX 128

/*
 * Writes the names of the settings that differ, separated by ", ", cut off after @size bytes, and
 * returns their number.  They take effect at the next start, except tcp: see settings__take_tcp().
 */
int settings__compare(const struct settings *a, const struct settings *b, char *names, size_t size);

/*
 * Exchanges the tcp places of @settings and @others if they differ, and returns whether they did:
 * the tcp place takes effect when dartd is reloaded.
 */
bool settings__take_tcp(struct settings *settings, struct settings *others);

#endif /* SETTINGS_H */
