/* SPDX-License-Identifier: GPL-2.0-only */
/* dartd --check */
#ifndef CHECK_H
#define CHECK_H

#include "options.h"

/*
 * Checks the configuration of @options and prints what it would register, or a
 * line on stderr for each mistake.  Returns an exit status.
 */
int check__run(const struct options *options);

#endif /* CHECK_H */
