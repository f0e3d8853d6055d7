// SPDX-License-Identifier: GPL-2.0-only
/* Parses and prints instants, see instant.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/settings/quantity.h>

#include "instant.h"

#define SECOND UINT64_C(1000000000)
#define AGO " ago"

/* Parses ".123", 1 to 9 digits, or nothing; advances @text. */
static bool take_fraction(const char **text, uint64_t *ns)
{
	uint64_t unit = SECOND / 10;

	*ns = 0;
	if (**text != '.')
		return true;
	if (!strspn(*text + 1, "0123456789"))
		return false;
	for (++*text; **text >= '0' && **text <= '9' && unit; ++*text, unit /= 10)
		*ns += (**text - '0') * unit;
	return true;
}

static int parse_seconds(const char *text, uint64_t *ns)
{
	const size_t digits = strspn(text, "0123456789");
	uint64_t seconds, fraction;

	/* Up to the year 2286. */
	if (!digits || digits > 10)
		return -EINVAL;
	seconds = strtoull(text, NULL, 10);
	text += digits;
	if (!take_fraction(&text, &fraction) || *text || seconds > INT64_MAX / SECOND - 1)
		return -EINVAL;
	*ns = seconds * SECOND + fraction;
	return 0;
}

/* The 31st of February is no day. */
static bool is_same_day(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_mon == b->tm_mon && a->tm_mday == b->tm_mday;
}

static int parse_date(const char *text, uint64_t *ns)
{
	struct tm given, date = { .tm_isdst = -1 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &date);
	uint64_t fraction;
	time_t seconds;

	if (!rest || !take_fraction(&rest, &fraction))
		return -EINVAL;
	given = date;
	if (!strcmp(rest, "Z"))
		seconds = timegm(&date);
	else if (!*rest)
		seconds = mktime(&date);
	else
		return -EINVAL;
	if (seconds < 0 || (uint64_t)seconds > INT64_MAX / SECOND - 1 ||
	    !is_same_day(&given, &date))
		return -EINVAL;
	*ns = (uint64_t)seconds * SECOND + fraction;
	return 0;
}

static int parse_age(const char *text, size_t length, uint64_t now_ns, uint64_t *ns)
{
	char quantity[32];
	uint64_t age;

	if (length >= sizeof(quantity))
		return -EINVAL;
	memcpy(quantity, text, length);
	quantity[length] = '\0';
	if (dart_quantity__parse(DART_QUANTITY_TIME, quantity, 0, now_ns, &age))
		return -EINVAL;
	*ns = now_ns - age;
	return 0;
}

int instant__parse(const char *text, uint64_t now_ns, uint64_t *ns)
{
	const size_t length = strlen(text), ago = strlen(AGO);

	if (*text == '@')
		return parse_seconds(text + 1, ns);
	if (length > ago && !strcmp(text + length - ago, AGO))
		return parse_age(text, length - ago, now_ns, ns);
	return parse_date(text, ns);
}

void instant__print(uint64_t ns, char text[INSTANT_MAX])
{
	const time_t seconds = ns / SECOND;
	struct tm date;
	size_t length;

	gmtime_r(&seconds, &date);
	length = strftime(text, INSTANT_MAX, "%Y-%m-%dT%H:%M:%S", &date);
	snprintf(text + length, INSTANT_MAX - length, ".%03uZ",
		 (unsigned int)(ns % SECOND / 1000000));
}
