// SPDX-License-Identifier: GPL-2.0-only
/* Parses points in time and speeds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay_options.h"

#define NS_PER_S	1000000000LL
#define SECONDS_MAX	(INT64_MAX / NS_PER_S - 1)

/* Parses ".5" or "" into ns of a second; moves *@text past it. */
static int64_t parse_fraction(const char **text)
{
	int64_t ns = 0, unit = NS_PER_S;

	if (**text != '.')
		return 0;
	for ((*text)++; **text >= '0' && **text <= '9'; (*text)++) {
		unit /= 10;
		ns += (**text - '0') * unit;
	}
	return ns;
}

/* Parses one digit or more; -1 if there is none, or the number is too large. */
static int64_t parse_digits(const char **text)
{
	int64_t value = 0;

	if (**text < '0' || **text > '9')
		return -1;
	for (; **text >= '0' && **text <= '9'; (*text)++) {
		value = value * 10 + (**text - '0');
		if (value > SECONDS_MAX)
			return -1;
	}
	return value;
}

static int parse_unix(const char *text, struct replay_time *time)
{
	const int64_t seconds = parse_digits(&text);

	if (seconds < 0)
		return -EINVAL;
	time->ns = seconds * NS_PER_S + parse_fraction(&text);
	return *text ? -EINVAL : 0;
}

static int parse_distance(const char *text, struct replay_time *time)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		{ "ms", 1000000 },
		{ "s", NS_PER_S },
		{ "min", 60 * NS_PER_S },
		{ "h", 3600 * NS_PER_S },
	};
	const int64_t value = parse_digits(&text);
	size_t i;

	if (value < 0)
		return -EINVAL;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(text, units[i].name))
			continue;
		if (value > INT64_MAX / units[i].ns)
			return -EINVAL;
		time->is_relative = true;
		time->ns = value * units[i].ns;
		return 0;
	}
	return -EINVAL;
}

/* Parses "Z", "+01:00" or, for local time, "", and writes @date as seconds since 1970. */
static int parse_zone(const char *text, struct tm *date, time_t *seconds)
{
	const int sign = *text == '-' ? -1 : 1;
	int hours, minutes;

	if (!*text) {
		date->tm_isdst = -1;
		*seconds = mktime(date);
		return 0;
	}
	*seconds = timegm(date);
	if (!strcmp(text, "Z"))
		return 0;
	if (strlen(text) != 6 || !strchr("+-", *text) || text[3] != ':' ||
	    strspn(text + 1, "0123456789") != 2 || strspn(text + 4, "0123456789") != 2)
		return -EINVAL;
	hours = atoi(text + 1);
	minutes = atoi(text + 4);
	if (hours > 23 || minutes > 59)
		return -EINVAL;
	*seconds -= sign * (hours * 3600 + minutes * 60);
	return 0;
}

/* False for the 30th of February, which mktime() and timegm() turn into the 2nd of March. */
static bool is_same(const struct tm *one, const struct tm *other)
{
	return one->tm_year == other->tm_year && one->tm_mon == other->tm_mon &&
	       one->tm_mday == other->tm_mday && one->tm_hour == other->tm_hour &&
	       one->tm_min == other->tm_min && one->tm_sec == other->tm_sec;
}

static int parse_date(const char *text, struct replay_time *time)
{
	struct tm date = { }, asked;
	time_t seconds;
	int64_t ns;

	text = strptime(text, "%Y-%m-%d", &date);
	if (!text || (*text != 'T' && *text != ' '))
		return -EINVAL;
	text = strptime(text + 1, "%H:%M:%S", &date);
	if (!text)
		return -EINVAL;
	ns = parse_fraction(&text);
	asked = date;
	if (parse_zone(text, &date, &seconds) || seconds < 0 || seconds > SECONDS_MAX)
		return -EINVAL;
	if (!is_same(&date, &asked))
		return -ERANGE;
	time->ns = seconds * NS_PER_S + ns;
	return 0;
}

int replay_time__parse(const char *text, struct replay_time *time)
{
	*time = (struct replay_time){ .is_set = true };
	if (*text == '@')
		return parse_unix(text + 1, time);
	if (*text == '+')
		return parse_distance(text + 1, time);
	return parse_date(text, time);
}

int64_t replay_time__ns(const struct replay_time *time, int64_t started_ns, int64_t unset)
{
	int64_t ns;

	if (!time->is_set)
		return unset;
	if (!time->is_relative)
		return time->ns;
	return __builtin_add_overflow(started_ns, time->ns, &ns) ? INT64_MAX : ns;
}

int replay_options__parse_speed(const char *text, double *speed)
{
	double value;
	char *end;

	if (!strcmp(text, "max")) {
		*speed = 0;
		return 0;
	}
	if (*text < '0' || *text > '9')
		return -EINVAL;
	value = strtod(text, &end);
	if (*end == 'x')
		end++;
	if (*end || !(value >= REPLAY_SPEED_MIN && value <= REPLAY_SPEED_MAX))
		return -EINVAL;
	*speed = value;
	return 0;
}
