/* SPDX-License-Identifier: GPL-2.0-only */
/* Network interfaces of this machine. */
#ifndef INTERFACE_H
#define INTERFACE_H

#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdint.h>

#include <libdart/error.h>

struct interface {
	const char *name;
	uint32_t number;
	uint8_t mac[ETH_ALEN];
	struct in_addr address;	/* INADDR_ANY: none */
};

/*
 * Looks up the Ethernet interface @name, which must outlive the result.
 * Returns 0, or -errno with a sentence in @error.
 */
int interface__find(const char *name, struct interface *interface, struct dart_error *error);

#endif /* INTERFACE_H */
