/* SPDX-License-Identifier: GPL-2.0-only */
/* Where metrics go, beside standard output. */
#ifndef CONTROLLER_OUTPUT_SETTINGS_H
#define CONTROLLER_OUTPUT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* Texts are NULL where the user does not say. */
struct output_settings {
	char *listen;	/* where metrics are served by HTTP, see http_server.h; NULL: nowhere */
	char *web;	/* where the page is served, see web/web.h; NULL: nowhere */
	char *web_token_path;	/* NULL: the page needs no token */
};

/* Is there any output? */
bool output_settings__has_any(const struct output_settings *settings);
/* @copy may be cleared also after -ENOMEM, which it returns, or 0. */
int output_settings__copy(struct output_settings *copy,
			  const struct output_settings *settings);
void output_settings__clear(struct output_settings *settings);

#endif /* CONTROLLER_OUTPUT_SETTINGS_H */
