// SPDX-License-Identifier: GPL-2.0-only
/* The capacity of a link, and whether the scrapes of all targets exceed it. */
#include "capacity.h"

#include <stdio.h>
#include <string.h>

#define CREDIT_US 20
#define CREDIT_MIN (256 << 10)
#define ROUND_TRIP_US 6
#define PRODUCT_MIN (16 << 10)

/* 27 characters are enough for 2^64 with commas. */
#define NUMBER_MAX 32

static uint64_t bytes_in(uint64_t bits_per_s, uint64_t us, uint64_t least)
{
	uint64_t bytes = bits_per_s / 8000000 * us;

	return bytes > least ? bytes : least;
}

uint64_t capacity__credit(uint64_t bits_per_s)
{
	return bytes_in(bits_per_s, CREDIT_US, CREDIT_MIN);
}

uint64_t capacity__product(uint64_t bits_per_s)
{
	return bytes_in(bits_per_s, ROUND_TRIP_US, PRODUCT_MIN);
}

void capacity__add(struct capacity *capacity, uint64_t interval_ns, uint64_t bytes)
{
	double scrapes_per_s = 1e9 / interval_ns;

	if (!capacity->targets++)
		capacity->interval_min_ns = capacity->interval_max_ns = interval_ns;
	if (interval_ns < capacity->interval_min_ns)
		capacity->interval_min_ns = interval_ns;
	if (interval_ns > capacity->interval_max_ns)
		capacity->interval_max_ns = interval_ns;
	if (bytes) {
		capacity->known++;
		capacity->bytes += bytes;
		capacity->bytes_per_s += bytes * scrapes_per_s;
	} else {
		capacity->scrapes_per_s += scrapes_per_s;
	}
}

/* Leaves the range of intervals alone, which may then be too wide: only a message uses it. */
void capacity__remove(struct capacity *capacity, uint64_t interval_ns, uint64_t bytes)
{
	double scrapes_per_s = 1e9 / interval_ns;

	if (!--capacity->targets) {
		/* Clears rounding errors of the sums, too. */
		*capacity = (struct capacity){};
		return;
	}
	if (bytes) {
		capacity->known--;
		capacity->bytes -= bytes;
		capacity->bytes_per_s -= bytes * scrapes_per_s;
	} else {
		capacity->scrapes_per_s -= scrapes_per_s;
	}
}

/* As 1,234,567. */
static const char *print_number(uint64_t number, char text[NUMBER_MAX])
{
	char digits[NUMBER_MAX];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	char *end = text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*end++ = ',';
		*end++ = digits[i];
	}
	*end = '\0';
	return text;
}

/* In the largest unit that leaves no fraction. */
static void print_intervals(const struct capacity *capacity, char text[NUMBER_MAX])
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "min", 60000000000 },
		      { "s", 1000000000 },
		      { "ms", 1000000 },
		      { "us", 1000 },
		      { "ns", 1 } };
	uint64_t interval_ns = capacity->interval_min_ns;
	size_t i = 0;

	if (interval_ns != capacity->interval_max_ns) {
		strcpy(text, "their intervals");
		return;
	}
	while (interval_ns % units[i].ns)
		i++;
	snprintf(text, NUMBER_MAX, "%llu %s", (unsigned long long)(interval_ns / units[i].ns),
		 units[i].name);
}

bool capacity__exceeds(const struct capacity *capacity, uint64_t bits_per_s, char *text,
		       size_t size)
{
	char fitting[NUMBER_MAX], targets[NUMBER_MAX], bytes[NUMBER_MAX];
	char interval[NUMBER_MAX];
	double mean, wanted;

	if (!bits_per_s || !capacity->known)
		return false;
	mean = (double)capacity->bytes / capacity->known;
	wanted = capacity->bytes_per_s + capacity->scrapes_per_s * mean;
	if (wanted * 8 <= bits_per_s)
		return false;
	print_intervals(capacity, interval);
	snprintf(
		text, size,
		"%s of %s agents fit at %s: scrapes of %s bytes on average need %.1f Gbit/s, and the port has %.1f (choose entries or longer intervals)",
		print_number(capacity->targets * (bits_per_s / 8. / wanted), fitting),
		print_number(capacity->targets, targets), interval, print_number(mean, bytes),
		wanted * 8e-9, bits_per_s * 1e-9);
	return true;
}
