/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dartctl reporter attach, detach, status: this machine as a switch that reports.
 * dartd has no part in it.
 */
#ifndef ATTACH_H
#define ATTACH_H

#include "tools/dartctl/command.h"

int reporter__attach(struct options *options, int argc, char **argv);
int reporter__detach(const struct options *options, int argc, char **argv);
int reporter__status(const struct options *options, int argc, char **argv);

#endif /* ATTACH_H */
