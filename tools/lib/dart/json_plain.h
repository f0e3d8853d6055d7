/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plain bytes of a string: JSON in ASCII shows them as they are.  They are the printable ASCII
 * characters except the quote and the backslash, and are looked at eight at a time.
 */
#ifndef DART_JSON_PLAIN_H
#define DART_JSON_PLAIN_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DART_JSON_EACH_BYTE UINT64_C(0x0101010101010101)

/*
 * Of eight bytes, the first one lowest: the lowest set bit is that of the first byte that is not
 * plain; 0 if all are plain.
 */
static inline uint64_t dart_json_plain__find_other(uint64_t bytes)
{
	const uint64_t each = DART_JSON_EACH_BYTE;
	const uint64_t quotes = bytes ^ (each * '"');
	const uint64_t backslashes = bytes ^ (each * '\\');

	/* A borrow or carry goes only beyond a byte that is found already. */
	return ((bytes - each * ' ') | (quotes - each) | (backslashes - each) | (bytes + each) |
		bytes) &
	       (each * 0x80);
}

/* The first byte from @at on that is not plain, or @end. */
static inline const char *dart_json_plain__end(const char *at, const char *end)
{
	uint64_t bytes, other;

	for (; end - at >= (ptrdiff_t)sizeof(bytes); at += sizeof(bytes)) {
		memcpy(&bytes, at, sizeof(bytes));
		other = dart_json_plain__find_other(le64toh(bytes));
		if (other)
			return at + __builtin_ctzll(other) / 8;
	}
	while (at < end && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\')
		at++;
	return at;
}

#endif /* DART_JSON_PLAIN_H */
