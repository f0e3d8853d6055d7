/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of outputs other than standard output. */
#ifndef CONTROLLER_OUTPUT_SETTINGS_H
#define CONTROLLER_OUTPUT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "http_settings.h"
#include "receiver_settings.h"

struct output_settings {
	struct http_settings listen;	/* the server of metrics; no address: none */
	struct http_settings web;	/* the server of the page, see web/web.h; the same */
	struct receiver_settings *receivers;	/* owned */
	size_t receiver_count;
};

/*
 * Completes @receiver and moves it into the settings.  Returns 0; or -EINVAL with a sentence in
 * @error if it cannot be completed, or there are RECEIVERS_MAX: then the caller keeps @receiver.
 */
int output_settings__add_receiver(struct output_settings *settings,
				  struct receiver_settings *receiver, struct dart_error *error);
/*
 * Reads the list of outputs of a configuration file.  A server keeps the settings that it has from
 * the command line.
 */
int output_settings__read(struct output_settings *settings, struct dart_yaml *yaml,
			  const yaml_node_t *node);
/* The key of an output that pushes in the format @name, for receivers; NULL if there is none. */
const char *output_settings__format(const char *name);
/* Is there any output? */
bool output_settings__has_any(const struct output_settings *settings);
/* Returns 0 or -ENOMEM; the caller clears @copy in both cases. */
int output_settings__copy(struct output_settings *copy, const struct output_settings *settings);
void output_settings__clear(struct output_settings *settings);

#endif /* CONTROLLER_OUTPUT_SETTINGS_H */
