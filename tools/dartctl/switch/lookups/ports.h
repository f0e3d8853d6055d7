/* SPDX-License-Identifier: GPL-2.0-only */
/* Tells a switch with lookup tables which of its ports have no link. */
#ifndef LOOKUP_PORTS_H
#define LOOKUP_PORTS_H

#include "tools/dartctl/switch/thrift/thrift.h"
#include "wish.h"

#define LOOKUP_PORT_DOWN "tea_port_down" /* a register, by port */

/*
 * Asks the switch for its interfaces, and corrects the register for each port towards a server.
 * Returns 0, or -errno with a sentence in @error.
 */
int lookup_ports__update(struct thrift *thrift, const struct lookup_wish *wish,
			 struct dart_error *error);

#endif /* LOOKUP_PORTS_H */
