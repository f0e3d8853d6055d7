// SPDX-License-Identifier: GPL-2.0-only
/* Decides between the command line, the configuration and the defaults. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

/*
 * Default interval of the probes of peers, and the longest delay of a probe.  So dartd can probe
 * when it wakes up for another reason: at least every 225 s for the watchdog of the service.
 */
#define KEEPALIVE_S 300
#define KEEPALIVE_SLACK_S 225

/* Copies texts into a new list; -ENOMEM: *@copied of them are in it. */
static int copy_list(char **texts, size_t count, char ***list, size_t *copied)
{
	*list = calloc(count + 1, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (*copied = 0; *copied < count; ++*copied) {
		(*list)[*copied] = strdup(texts[*copied]);
		if (!(*list)[*copied])
			return -ENOMEM;
	}
	return 0;
}

static int copy_texts(struct settings *settings, const struct dart_configuration *configuration)
{
	if (configuration->device) {
		settings->device = strdup(configuration->device);
		if (!settings->device)
			return -ENOMEM;
	}
	return copy_list(configuration->listen, configuration->listen_count,
			 &settings->place.addresses, &settings->place.count) ?:
		       copy_list(configuration->tcp.listen,
				 configuration->tcp.listen_count,
				 &settings->tcp.addresses,
				 &settings->tcp.count);
}

static uint16_t tcp_port(const struct dart_configuration_tcp *tcp)
{
	if (!tcp->certificate)
		return 0;
	return tcp->port ?: DART_RPC_TCP_PORT;
}

int settings__open(struct settings *settings, const struct options *options,
		   const struct dart_configuration *configuration, struct dart_error *error)
{
	*settings = (struct settings){
		.exposure = options->exposure		    ?:
				    configuration->exposure ?:
				    DART_CONTROL_EXPOSURE_EXACT,
		.dscp = configuration->dscp,
		.gatherer = configuration->gatherer ?: DART_CONFIGURATION_GATHERER_AUTO,
		.rest = configuration->rest,
		.place.port = options->port		  ?:
				      configuration->port ?:
							    DART_CONTROL_PORT,
		.place.keepalive_s = configuration->keepalive ?: KEEPALIVE_S,
		.place.keepalive_slack_s = configuration->keepalive ? 1 : KEEPALIVE_SLACK_S,
		.tcp.port = tcp_port(&configuration->tcp),
	};
	if (!copy_texts(settings, configuration))
		return 0;
	settings__close(settings);
	return dart_error__no_memory(error);
}

static void free_list(char **list, size_t count)
{
	while (count)
		free(list[--count]);
	free(list);
}

void settings__close(struct settings *settings)
{
	free_list(settings->place.addresses, settings->place.count);
	free_list(settings->tcp.addresses, settings->tcp.count);
	free(settings->device);
}

static bool are_same(char *const *a, size_t a_count, char *const *b, size_t b_count)
{
	size_t i;

	if (a_count != b_count)
		return false;
	for (i = 0; i < a_count; i++)
		if (strcmp(a[i], b[i]))
			return false;
	return true;
}

int settings__compare(const struct settings *a, const struct settings *b, char *names, size_t size)
{
	const struct {
		const char *name;
		bool differs;
	} all[] = {
		{ "device", strcmp(a->device ?: "", b->device ?: "") },
		{ "listen", !are_same(a->place.addresses, a->place.count,
				      b->place.addresses, b->place.count) },
		{ "port", a->place.port != b->place.port },
		{ "dscp", a->dscp != b->dscp },
		{ "keepalive", a->place.keepalive_s != b->place.keepalive_s },
		{ "exposure", a->exposure != b->exposure },
		{ "gatherer", a->gatherer != b->gatherer },
		{ "rest", a->rest != b->rest },
	};
	size_t i, used = 0;
	int count = 0;

	*names = '\0';
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].differs)
			continue;
		if (used < size)
			used += snprintf(names + used, size - used, "%s%s",
					 count ? ", " : "", all[i].name);
		count++;
	}
	return count;
}

bool settings__take_tcp(struct settings *settings, struct settings *others)
{
	struct tcp_place *a = &settings->tcp, *b = &others->tcp;
	const struct tcp_place taken = *b;

	if (a->port == b->port && are_same(a->addresses, a->count, b->addresses, b->count))
		return false;
	*b = *a;
	*a = taken;
	return true;
}
