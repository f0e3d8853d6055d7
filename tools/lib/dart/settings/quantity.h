/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers, times and sizes as people write them: digits, and a unit if the quantity has one.
 * Signs, fractions and blanks are refused.
 */
#ifndef DART_QUANTITY_H
#define DART_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

enum dart_quantity {
	DART_QUANTITY_NUMBER,	/* "64" */
	DART_QUANTITY_TIME,	/* "250us", "100ms", "5s", "1min", in ns */
	DART_QUANTITY_BYTES,	/* "16384", "64K", "8M", "1G", "2T": K is 1024 */
};

/*
 * Parses @text.  Returns 0, or -EINVAL, also if the value is not from @least to @most; then @value
 * stays as it is.
 */
int dart_quantity__parse(enum dart_quantity quantity, const char *text, uint64_t least,
			 uint64_t most, uint64_t *value);
/* The logarithm of a power of two, "2^20" or "1048576", up to @most; -1 if @text is none. */
int dart_quantity__logarithm(const char *text, int most);
/* Prints @value with the largest unit that divides it, such as "60min", into @size bytes. */
void dart_quantity__print(enum dart_quantity quantity, uint64_t value, char *text, size_t size);

#endif /* DART_QUANTITY_H */
