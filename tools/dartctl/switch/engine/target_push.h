/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch push of a file with one target for a switch: a ledger, or a journal. */
#ifndef SWITCH_TARGET_PUSH_H
#define SWITCH_TARGET_PUSH_H

#include <stdbool.h>

#include <libdart/report/collectors.h>

#include "hosts.h"
#include "kind.h"

struct target_push {
	const char *thrift; /* of the switch, "HOST:PORT" */
	bool as_json;
	struct in_addr peer; /* the switch; INADDR_ANY: the only one in the file */
	struct switch_ports ports;
	const char *file;
	const struct switch_kind *kind;
	void *wish; /* of the kind; the following two are parts of it */
	const struct dart_collector *collector;
	uint16_t *port; /* that leads to the collector */
	/* Reads the target of @peer into @wish.  Returns 0, or -errno with a sentence in @error. */
	int (*load)(void *wish, const char *file, struct in_addr peer, struct dart_error *error);
};

/*
 * Both push the file, and return an exit status, with the changes or a message printed; follow also
 * pushes later changes of the file, until a signal ends this process.
 */
int target_push__once(struct target_push *push, bool is_dry);
int target_push__follow(struct target_push *push);

#endif /* SWITCH_TARGET_PUSH_H */
