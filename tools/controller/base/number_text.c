// SPDX-License-Identifier: GPL-2.0-only
/* Prints numbers.  Most are integers or need at most 9 digits after the point: these are fast. */
#include "number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below this, a double holds each integer exactly. */
#define EXACT_MAX 9007199254740992.0 /* 2^53 */

static size_t copy(char text[static NUMBER_TEXT_MAX], const char *from)
{
	return stpcpy(text, from) - text;
}

size_t number_text__print_decimal(int64_t value, unsigned int digits,
				  char text[static NUMBER_TEXT_MAX])
{
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char reverse[NUMBER_TEXT_MAX], *to = reverse, *out = text;
	unsigned int count = 0;

	for (; digits && left % 10 == 0; digits--)
		left /= 10;
	for (; left || count <= digits; count++) {
		if (count == digits && digits)
			*to++ = '.';
		*to++ = '0' + left % 10;
		left /= 10;
	}
	if (value < 0)
		*out++ = '-';
	while (to > reverse)
		*out++ = *--to;
	*out = '\0';
	return out - text;
}

/* Some locales print a comma; this program does not set a locale, but a library could. */
static void mend_point(char *text)
{
	char *comma = strchr(text, ',');

	if (comma)
		*comma = '.';
}

size_t number_text__print(double value, char text[static NUMBER_TEXT_MAX])
{
	double scaled;
	int digits;

	if (isnan(value))
		return copy(text, "NaN");
	if (isinf(value))
		return copy(text, value > 0 ? "+Inf" : "-Inf");
	if (value == trunc(value) && fabs(value) < EXACT_MAX)
		return number_text__print_decimal(value, 0, text);
	scaled = round(value * 1e9);
	if (fabs(scaled) < EXACT_MAX && scaled / 1e9 == value)
		return number_text__print_decimal(scaled, 9, text);
	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, NUMBER_TEXT_MAX, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	mend_point(text);
	return strlen(text);
}
