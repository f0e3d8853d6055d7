// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parses and prints numbers with units: see quantity.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <libdart/settings/quantity.h>

struct unit {
	const char *name;
	uint64_t value;
};

/* From the smallest to the largest, ended by an empty one. */
static const struct unit *units_of(enum dart_quantity quantity)
{
	static const struct unit numbers[] = { { "", 1 }, {} };
	static const struct unit times[] = {
		{ "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { "min", 60000000000 }, {},
	};
	static const struct unit bytes[] = {
		{ "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { "T", 1ULL << 40 }, {},
	};

	return quantity == DART_QUANTITY_TIME  ? times :
	       quantity == DART_QUANTITY_BYTES ? bytes :
						 numbers;
}

int dart_quantity__parse(enum dart_quantity quantity, const char *text, uint64_t least,
			 uint64_t most, uint64_t *value)
{
	const struct unit *unit = units_of(quantity);
	const char *c = text;
	uint64_t number = 0;

	for (; *c >= '0' && *c <= '9'; c++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, *c - '0', &number))
			return -EINVAL;
	while (unit->name && strcmp(unit->name, c))
		unit++;
	if (c == text || !unit->name || __builtin_mul_overflow(number, unit->value, &number) ||
	    number < least || number > most)
		return -EINVAL;
	*value = number;
	return 0;
}

int dart_quantity__logarithm(const char *text, int most)
{
	uint64_t number;

	if (!strncmp(text, "2^", 2))
		return dart_quantity__parse(DART_QUANTITY_NUMBER, text + 2, 0, most, &number) ?
			       -1 :
			       (int)number;
	if (dart_quantity__parse(DART_QUANTITY_NUMBER, text, 1, INT64_MAX, &number) ||
	    number & (number - 1) || __builtin_ctzll(number) > most)
		return -1;
	return __builtin_ctzll(number);
}

void dart_quantity__print(enum dart_quantity quantity, uint64_t value, char *text, size_t size)
{
	const struct unit *unit, *largest = units_of(quantity);

	for (unit = largest; unit->name; unit++)
		if (value && value % unit->value == 0)
			largest = unit;
	snprintf(text, size, "%" PRIu64 "%s", value / largest->value, largest->name);
}
