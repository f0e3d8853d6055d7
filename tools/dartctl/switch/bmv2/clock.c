// SPDX-License-Identifier: GPL-2.0-only
/* The clock of simple_switch, see clock.h. */
#include "clock.h"
#include "tools/dartctl/switch/thrift/call.h"

static int read_time(struct thrift *thrift, const char *method, uint64_t *us,
		     struct dart_error *error)
{
	int asked;

	*us = 0;
	thrift__begin(thrift, SWITCH_SIMPLE_SWITCH, method);
	asked = thrift__ask(thrift, THRIFT_I64);
	if (!asked)
		*us = thrift__i64(thrift);
	return thrift__end(thrift, asked, "its clock", error);
}

int bmv2_clock__read(struct thrift *thrift, uint64_t *time_us, uint64_t *up_us,
		     struct dart_error *error)
{
	return read_time(thrift, "get_time_elapsed_us", up_us, error) ?:
	       read_time(thrift, "get_time_since_epoch_us", time_us, error);
}
