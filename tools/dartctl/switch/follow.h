/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps a switch in line with files of lookup tables: see dart_tables(5). */
#ifndef SWITCH_FOLLOW_H
#define SWITCH_FOLLOW_H

#include "tools/dartctl/switch/lookups/push.h"

/*
 * Pushes the files now and after each valid change, keeps the cache of a switch that sends digests,
 * and tells the switch which ports have no link, until a signal ends this process.  Returns an exit
 * status, with its message printed, if this process cannot go on.
 */
int switch_follow__run(const struct lookup_push *push);

#endif /* SWITCH_FOLLOW_H */
