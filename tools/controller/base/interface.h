/* SPDX-License-Identifier: GPL-2.0-only */
/* Network interfaces of this machine: which one has an address, and how fast it is. */
#ifndef CONTROLLER_INTERFACE_H
#define CONTROLLER_INTERFACE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The name of the interface that has @address, a text as of getnameinfo(3).  False, and an
 * empty name, if none has it.
 */
bool interface__of_address(const char *address, char name[IF_NAMESIZE]);

/* As its driver tells; 0: it does not. */
uint64_t interface__bits_per_s(const char *name);

#endif /* CONTROLLER_INTERFACE_H */
