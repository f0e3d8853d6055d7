/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of outputs of metrics: where they are served, and who is sent them. */
#ifndef CONTROLLER_OPTIONS_OUTPUTS_H
#define CONTROLLER_OPTIONS_OUTPUTS_H

#include <libdart/error.h>

#include "option_code.h"
#include "output_settings.h"

/*
 * Takes @value of --listen or --web, NULL if they have none, or of
 * --listen-token-file, --web-token-file, --http-..., --remote-write or --influx.  Returns 0; -EINVAL with a sentence in @error; or -ENOMEM.
 */
int options_outputs__parse(struct output_settings *outputs,
			   enum option_code code, const char *value,
			   struct dart_error *error);

#endif /* CONTROLLER_OPTIONS_OUTPUTS_H */
