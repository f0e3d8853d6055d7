/* SPDX-License-Identifier: GPL-2.0-only */
/* Network interfaces of this machine: finds the interface of an address, and its speed. */
#ifndef CONTROLLER_INTERFACE_H
#define CONTROLLER_INTERFACE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Sets @name to the interface that @address belongs to, a text as printed by getnameinfo(3).
 * False, and an empty @name, if no interface is found.
 */
bool interface__of_address(const char *address, char name[IF_NAMESIZE]);

/* The speed that the driver reports; 0: not known. */
uint64_t interface__bits_per_s(const char *name);

#endif /* CONTROLLER_INTERFACE_H */
