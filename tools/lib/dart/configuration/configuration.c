// SPDX-License-Identifier: LGPL-2.1-or-later
/* Frees configurations: see configuration.h. */
#include <stdlib.h>

#include "configuration.h"

static void free_list(char **list, size_t count)
{
	while (count)
		free(list[--count]);
	free(list);
}

static void close_tcp(struct dart_configuration_tcp *tcp)
{
	free(tcp->certificate);
	free(tcp->key);
	free(tcp->authorities);
	free(tcp->place);
	free(tcp->revoked);
	free_list(tcp->subjects, tcp->subject_count);
	free_list(tcp->listen, tcp->listen_count);
}

void dart_configuration__close(struct dart_configuration *configuration)
{
	struct dart_configuration_item *item;
	size_t i;

	for (i = 0; i < configuration->item_count; i++) {
		item = &configuration->items[i];
		json_decref(item->request);
		free(item->path);
		free(item->file);
	}
	free(configuration->items);
	free_list(configuration->listen, configuration->listen_count);
	close_tcp(&configuration->tcp);
	free(configuration->device);
	free(configuration->settings_place);
	dart_prefixes__clear(&configuration->controllers);
	dart_prefixes__clear(&configuration->readers);
	dart_prefixes__clear(&configuration->callers);
	*configuration = (struct dart_configuration){};
}
