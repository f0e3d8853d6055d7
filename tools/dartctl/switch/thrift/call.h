/* SPDX-License-Identifier: GPL-2.0-only */
/* The common beginning of all calls of BMv2's Thrift interface. */
#ifndef SWITCH_CALL_H
#define SWITCH_CALL_H

#include "thrift.h"

/* Services at the port. */
#define SWITCH_STANDARD		"standard"
#define SWITCH_SIMPLE_SWITCH	"simple_switch"

/*
 * Begins a call whose second argument is @name, an object of the program.  The first argument is
 * the context; BMv2 supports only one.
 */
static inline void switch_call__begin(struct thrift *thrift, const char *method, const char *name)
{
	thrift__begin(thrift, SWITCH_STANDARD, method);
	thrift__put_i32(thrift, 1, 0);
	thrift__put_string(thrift, 2, name);
}

#endif /* SWITCH_CALL_H */
