// SPDX-License-Identifier: GPL-2.0-only
/* Decides between the command line, the configuration and the defaults. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

static int copy_texts(struct settings *settings,
		      const struct dart_configuration *configuration)
{
	struct listener_place *place = &settings->place;
	size_t i;

	if (configuration->device) {
		settings->device = strdup(configuration->device);
		if (!settings->device)
			return -ENOMEM;
	}
	place->addresses = calloc(configuration->listen_count + 1,
				  sizeof(*place->addresses));
	if (!place->addresses)
		return -ENOMEM;
	for (i = 0; i < configuration->listen_count; i++) {
		place->addresses[i] = strdup(configuration->listen[i]);
		if (!place->addresses[i])
			return -ENOMEM;
		place->count++;
	}
	return 0;
}

int settings__open(struct settings *settings, const struct options *options,
		   const struct dart_configuration *configuration,
		   struct dart_error *error)
{
	*settings = (struct settings){
		.exposure = options->exposure		    ?:
				    configuration->exposure ?:
				    DART_CONTROL_EXPOSURE_EXACT,
		.place.port = options->port		  ?:
				      configuration->port ?:
							    DART_CONTROL_PORT,
		.place.keepalive_s = configuration->keepalive,
	};
	if (!copy_texts(settings, configuration))
		return 0;
	settings__close(settings);
	return dart_error__no_memory(error);
}

void settings__close(struct settings *settings)
{
	while (settings->place.count)
		free(settings->place.addresses[--settings->place.count]);
	free(settings->place.addresses);
	free(settings->device);
}

static bool have_same_addresses(const struct listener_place *a,
				const struct listener_place *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (strcmp(a->addresses[i], b->addresses[i]))
			return false;
	return true;
}

int settings__compare(const struct settings *a, const struct settings *b,
		      char *names, size_t size)
{
	const struct {
		const char *name;
		bool differs;
	} all[] = {
		{ "device", strcmp(a->device ?: "", b->device ?: "") },
		{ "listen", !have_same_addresses(&a->place, &b->place) },
		{ "port", a->place.port != b->place.port },
		{ "keepalive", a->place.keepalive_s != b->place.keepalive_s },
		{ "exposure", a->exposure != b->exposure },
	};
	size_t i, used = 0;
	int count = 0;

	*names = '\0';
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].differs)
			continue;
		used += snprintf(names + used, size - used, "%s%s",
				 count++ ? ", " : "", all[i].name);
	}
	return count;
}
