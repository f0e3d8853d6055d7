/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of 'dartctl store' that have files of their own. */
#ifndef STORE_H
#define STORE_H

#include "tools/dartctl/options.h"

int store_show(const struct options *options, int argc, char **argv);
int store_export(struct options *options, int argc, char **argv);

#endif /* STORE_H */
