// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>

#include "why.h"

int why__say(struct why *why, int error, const char *format, ...)
{
	va_list arguments;
	char *byte;

	va_start(arguments, format);
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	va_end(arguments);

	for (byte = why->text; *byte; byte++)
		if (*byte < 0x20 || *byte > 0x7e)
			*byte = '?';
	return -error;
}
