/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks configurations with all that dartd knows without a device. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

#include <libdart/configuration/configuration.h>

#include "options.h"

/*
 * Returns 0, or -errno and the first mistake, "FILE:LINE: ...", in @error.  Each
 * one is printed to @file, unless that is NULL.
 */
int check__items(const struct dart_configuration *configuration, FILE *file,
		 struct dart_error *error);

/*
 * dartd --check: checks the configuration of @options and prints the objects that it would
 * register, or a line on stderr for each mistake.  Returns an exit status.
 */
int check__run(const struct options *options);

#endif /* CHECK_H */
