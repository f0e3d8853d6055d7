/* SPDX-License-Identifier: GPL-2.0-only */
/* What all calls of BMv2's Thrift interface have in common. */
#ifndef SWITCH_CALL_H
#define SWITCH_CALL_H

#include <libdart/error.h>
#include <libdart/rdma/read_plan.h>

#include "thrift.h"

/* Services behind the port. */
#define SWITCH_STANDARD		"standard"
#define SWITCH_SIMPLE_SWITCH	"simple_switch"

/*
 * Begins a call that is about a thing of the program's, its second argument:
 * the first one says where, and there is but one place.
 */
void switch_call__begin(struct thrift *thrift, const char *method,
			const char *name);

/*
 * Ends a call whose thrift__ask() has returned @asked, and that was for @what.
 * Returns 0 or -errno, and a sentence in @error.
 */
int switch_call__end(struct thrift *thrift, int asked, const char *what,
		     struct dart_error *error);

#endif /* SWITCH_CALL_H */
