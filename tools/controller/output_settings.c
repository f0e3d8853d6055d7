// SPDX-License-Identifier: GPL-2.0-only
/* Settings of outputs. */
#include "output_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool output_settings__has_any(const struct output_settings *settings)
{
	return settings->listen || settings->web;
}

static int copy_text(char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return !*copy == !text ? 0 : -ENOMEM;
}

int output_settings__copy(struct output_settings *copy,
			  const struct output_settings *settings)
{
	*copy = (struct output_settings){ };
	return copy_text(&copy->listen, settings->listen) ?:
	       copy_text(&copy->web, settings->web) ?:
	       copy_text(&copy->web_token_path, settings->web_token_path);
}

void output_settings__clear(struct output_settings *settings)
{
	free(settings->listen);
	free(settings->web);
	free(settings->web_token_path);
	*settings = (struct output_settings){ };
}
