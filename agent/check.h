/* SPDX-License-Identifier: GPL-2.0-only */
/* dartd --check */
#ifndef CHECK_H
#define CHECK_H

#include <libdart/configuration/configuration.h>
#include <libdart/error.h>

#include "options.h"

/*
 * Checks an item as far as that needs neither a device nor the objects that it
 * names: -errno with a sentence in @error.
 */
int check__item(const struct dart_configuration_item *item,
		struct dart_error *error);

/*
 * Checks the configuration of @options and prints what it would register, or a
 * line on stderr for each mistake.  Returns an exit status.
 */
int check__run(const struct options *options);

#endif /* CHECK_H */
