/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration as dartd uses it: checked as a whole before anything changes.
 * The settings of the last valid one are kept in the directory of the state, and
 * its registrations in the state file: a host whose configuration is spoilt goes on
 * being monitored, by whom it was, over restarts as well.
 */
#ifndef CONFIGURATION_H
#define CONFIGURATION_H

#include <stdbool.h>

#include <libdart/configuration/configuration.h>

#include "options.h"

#define CONFIGURATION_KEPT "settings.yaml"

/*
 * Reads the configuration that the options name, as dart_configuration__load(),
 * and checks its items.  Without a file at the default place it is empty.
 */
int configuration__load(struct dart_configuration *configuration, const struct options *options,
			struct dart_error *error);

/*
 * The same for a start: if the configuration is not valid, it is that of the last
 * start, without items, and *@is_last; the log says why.
 */
int configuration__load_or_last(struct dart_configuration *configuration,
				const struct options *options, bool *is_last,
				struct dart_error *error);

/* Keeps the settings in the directory of the state; a failure is logged. */
void configuration__keep(const struct dart_configuration *configuration,
			 const struct options *options);

#endif /* CONFIGURATION_H */
