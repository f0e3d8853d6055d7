// SPDX-License-Identifier: GPL-2.0-only
/* The first error of a connection to a Thrift server: see thrift_wire.h. */
#include <stdarg.h>

#include "wire.h"

void thrift_wire__fail(struct thrift_wire *wire, int code, const char *format,
		       ...)
{
	va_list arguments;

	if (wire->ret)
		return;
	va_start(arguments, format);
	wire->ret = dart_error__vset(&wire->error, code, format, arguments);
	va_end(arguments);
}
