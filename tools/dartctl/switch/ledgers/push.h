/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch push of a ledger: tells a P4 switch where to add to. */
#ifndef LEDGER_PUSH_H
#define LEDGER_PUSH_H

#include <stdbool.h>

#include "tools/dartctl/switch/engine/hosts.h"

struct ledger_push {
	const char *thrift; /* of the switch, "HOST:PORT" */
	bool as_json;
	bool counts_bytes;
	struct in_addr adder; /* INADDR_ANY: the only one in the file */
	struct switch_ports ports;
	const char *file;
};

/*
 * Both push the file, and return an exit status, with the changes or a message printed; follow also
 * pushes later changes of the file, until a signal ends this process.
 */
int ledger_push__once(const struct ledger_push *push, bool is_dry);
int ledger_push__follow(struct ledger_push *push);

#endif /* LEDGER_PUSH_H */
