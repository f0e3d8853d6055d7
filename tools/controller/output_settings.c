// SPDX-License-Identifier: GPL-2.0-only
/* Settings of outputs. */
#include "output_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool output_settings__has_any(const struct output_settings *settings)
{
	return settings->listen;
}

bool output_settings__equal(const struct output_settings *one,
			    const struct output_settings *other)
{
	if (!one->listen || !other->listen)
		return one->listen == other->listen;
	return !strcmp(one->listen, other->listen);
}

int output_settings__copy(struct output_settings *copy,
			  const struct output_settings *settings)
{
	*copy = (struct output_settings){ };
	if (settings->listen)
		copy->listen = strdup(settings->listen);
	return !copy->listen == !settings->listen ? 0 : -ENOMEM;
}

void output_settings__clear(struct output_settings *settings)
{
	free(settings->listen);
	*settings = (struct output_settings){ };
}
