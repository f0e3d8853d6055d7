/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of gathered entries, which end with their interval: "cpustat+1s", "vmstat+100ms". */
#ifndef DART_GATHERED_NAME_H
#define DART_GATHERED_NAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * The interval of the entry @name in ms, and in *@length the length of the name before it;
 * 0 if the name has no interval.
 */
uint32_t dart_gathered_name__ms(const char *name, size_t *length);

#endif /* DART_GATHERED_NAME_H */
