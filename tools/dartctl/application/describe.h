/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl application describe: makes the layout of a program. */
#ifndef DARTCTL_DESCRIBE_H
#define DARTCTL_DESCRIBE_H

#include "tools/dartctl/cli/options.h"

/* Gets its whole name as argv[0]; returns an exit status. */
int command_describe(struct options *options, int argc, char **argv);

#endif /* DARTCTL_DESCRIBE_H */
