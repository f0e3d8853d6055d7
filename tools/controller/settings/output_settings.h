/* SPDX-License-Identifier: GPL-2.0-only */
/* Where metrics go, beside standard output. */
#ifndef CONTROLLER_OUTPUT_SETTINGS_H
#define CONTROLLER_OUTPUT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "http_settings.h"
#include "receiver_settings.h"

/* Texts are NULL where the user does not say. */
struct output_settings {
	struct http_settings listen;	/* where metrics are served by HTTP */
	struct http_settings web;	/* where the page is served, see web/web.h */
	struct receiver_settings receivers[RECEIVERS_MAX];
	size_t receiver_count;
};

/*
 * Takes @receiver, of which nothing is left, after completing it.  Returns 0; -EINVAL with a
 * sentence in @error if it is not complete, or there are RECEIVERS_MAX: then it stays the
 * caller's.
 */
int output_settings__add_receiver(struct output_settings *settings,
				  struct receiver_settings *receiver,
				  struct dart_error *error);
/* Is there any output? */
bool output_settings__has_any(const struct output_settings *settings);
bool output_settings__equal(const struct output_settings *one,
			    const struct output_settings *other);
/* @copy may be cleared also after -ENOMEM, which it returns, or 0. */
int output_settings__copy(struct output_settings *copy,
			  const struct output_settings *settings);
void output_settings__clear(struct output_settings *settings);

#endif /* CONTROLLER_OUTPUT_SETTINGS_H */
