// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>

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
		     char why[DART_WHY_MAX])
{
	int ret = thrift__end(thrift);

	if (ret) {
		snprintf(why, DART_WHY_MAX, "%s", thrift__why(thrift));
	} else if (asked) {
		snprintf(why, DART_WHY_MAX, "it refuses %s (its code is %d)",
			 what, thrift__code(thrift));
		ret = -EREMOTEIO;
	}
	return ret;
}
