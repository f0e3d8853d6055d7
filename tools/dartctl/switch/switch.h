/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of 'dartctl switch'. */
#ifndef SWITCH_H
#define SWITCH_H

#include "tools/dartctl/options.h"

int switch__push(struct options *options, int argc, char **argv);

#endif /* SWITCH_H */
