// SPDX-License-Identifier: GPL-2.0-only
/* The parts that all calls of BMv2's Thrift interface have in common. */
#include <errno.h>
#include <stdio.h>

#include <libdart/error.h>

#include "call.h"

#define CONTEXT	0

void switch_call__begin(struct thrift *thrift, const char *method,
			const char *name)
{
	thrift__begin(thrift, SWITCH_STANDARD, method);
	thrift__put_i32(thrift, 1, CONTEXT);
	thrift__put_string(thrift, 2, name);
}

int switch_call__end(struct thrift *thrift, int asked, const char *what,
		     struct dart_error *error)
{
	int ret = thrift__end(thrift, error);

	if (!ret && asked)
		return dart_error__set(error, EREMOTEIO,
				       "it refuses %s (its code is %d)", what,
				       thrift__code(thrift));
	return ret;
}
