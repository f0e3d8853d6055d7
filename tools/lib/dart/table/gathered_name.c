// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds the interval in the name of an entry. */
#include <stdlib.h>
#include <string.h>

#include <libdart/table/gathered_name.h>

#define DIGITS_MAX 6 /* so that ms fit into 32 bits; dartd gathers at least once a minute */

uint32_t dart_gathered_name__ms(const char *name, size_t *length)
{
	const char *plus = strrchr(name, '+');
	size_t digits = plus ? strspn(plus + 1, "0123456789") : 0;
	uint32_t unit = 0;

	if (!digits || digits > DIGITS_MAX || plus[1] == '0')
		return 0;
	if (!strcmp(plus + 1 + digits, "s"))
		unit = 1000;
	else if (!strcmp(plus + 1 + digits, "ms"))
		unit = 1;
	*length = plus - name;
	return atoi(plus + 1) * unit;
}
