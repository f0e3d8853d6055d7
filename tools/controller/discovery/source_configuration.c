// SPDX-License-Identifier: GPL-2.0-only
/* The configuration file, when it is to be read again. */
#include "source_private.h"
#include "tools/controller/settings/config.h"

static int read_configuration(struct source *source, struct source_news *news)
{
	news->result =
		config__read(&news->settings, &source->settings, source->name->text, &news->error) ?:
			target_list__of_settings(&news->settings, &news->list);
	return -1;
}

const struct source_reader source_configuration_reader = {
	.kind = "configuration",
	.waits_first = true,
	.pause_ms = 100,
	.read = read_configuration,
};
