// SPDX-License-Identifier: LGPL-2.1-or-later
/* Frees configurations: see configuration.h. */
#include <stdlib.h>

#include "configuration.h"

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
	for (i = 0; i < configuration->listen_count; i++)
		free(configuration->listen[i]);
	free(configuration->listen);
	free(configuration->device);
	free(configuration->settings_place);
	dart_prefixes__clear(&configuration->controllers);
	dart_prefixes__clear(&configuration->readers);
	*configuration = (struct dart_configuration){};
}
