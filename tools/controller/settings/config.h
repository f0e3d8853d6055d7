/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration file, YAML: see FILES in dart-controller(1).  Its settings are the rows of
 * settings_table.c that have a key.
 */
#ifndef CONTROLLER_CONFIG_H
#define CONTROLLER_CONFIG_H

#include <stdio.h>

#include <libdart/error.h>

#include "settings.h"

/*
 * Adds the agents and sources of @file to @settings, and the settings that @settings lacks: the
 * command line takes precedence.  Messages name @path and the line.  Returns 0; -EINVAL with a
 * sentence in @error; -ENOMEM.  @settings may have changed also after an error.
 */
int config__load(struct settings *settings, FILE *file, const char *path, struct dart_error *error);

/*
 * Fills @settings, which are empty, with @own, from the command line, and with the file at @path,
 * which must name an agent or a source.  Returns what config__load() returns.
 */
int config__read(struct settings *settings, const struct settings *own, const char *path,
		 struct dart_error *error);

#endif /* CONTROLLER_CONFIG_H */
