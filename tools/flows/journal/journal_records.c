// SPDX-License-Identifier: GPL-2.0-only
/* Records of a journal as bytes: see journal.h. */
#include <endian.h>
#include <string.h>
#include <xxhash.h>

#include "journal_internal.h"

#define VERSION 1
#define CHECK_LENGTH 4

#define WIDE 8 /* kind of the first half of addresses of IPv6; the second half has the next one */
#define IS_WIDE 16 /* added to an operation: the record belongs to the halves before it */
#define HALVES 2
#define HALF (JOURNAL_HALVES_LENGTH / HALVES)
#define UPPER 12 /* bytes of an address that are in the halves */

_Static_assert(JOURNAL_HALVES_LENGTH == 3 * UPPER && UPPER + 4 == ADDRESS_LENGTH,
	       "three addresses");
_Static_assert(PACKED_MAX == (HALVES + 1) * JOURNAL_RECORD_LENGTH, "a record, and its halves");

static const char magic[8] = "DARTFLOW";

static void put16(uint8_t *bytes, uint16_t value)
{
	value = htole16(value);
	memcpy(bytes, &value, sizeof(value));
}

static void put32(uint8_t *bytes, uint32_t value)
{
	value = htole32(value);
	memcpy(bytes, &value, sizeof(value));
}

static uint16_t get16(const uint8_t *bytes)
{
	return bytes[0] | bytes[1] << 8;
}

static uint32_t get32(const uint8_t *bytes)
{
	return get16(bytes) | (uint32_t)get16(bytes + 2) << 16;
}

static uint32_t check_of(const uint8_t *bytes)
{
	return XXH32(bytes + CHECK_LENGTH, JOURNAL_RECORD_LENGTH - CHECK_LENGTH, VERSION);
}

static void pack_one(const struct journal_record *record, uint8_t kind, uint8_t *bytes)
{
	bytes[4] = kind;
	bytes[5] = record->protocol;
	put16(bytes + 6, record->inside_port);
	put16(bytes + 8, record->outside_port);
	put16(bytes + 10, record->remote_port);
	put32(bytes + 12, record->inside);
	put32(bytes + 16, record->outside);
	put32(bytes + 20, record->remote);
	put32(bytes + 24, record->time_s);
	put32(bytes + 28, record->time_s >> 32);
	put32(bytes, check_of(bytes));
}

static bool is_wide(const struct journal_record *record)
{
	return !address__is_ipv4(record->inside | record->outside | record->remote);
}

size_t journal__pack(const struct journal_record *record, uint8_t bytes[static PACKED_MAX])
{
	uint8_t upper[JOURNAL_HALVES_LENGTH];
	uint8_t *const first = bytes;
	unsigned int half;

	if (!is_wide(record)) {
		pack_one(record, record->operation, bytes);
		return JOURNAL_RECORD_LENGTH;
	}
	address__put(upper, UPPER, record->inside >> 32);
	address__put(upper + UPPER, UPPER, record->outside >> 32);
	address__put(upper + 2 * UPPER, UPPER, record->remote >> 32);
	memset(bytes, 0, HALVES * JOURNAL_RECORD_LENGTH);
	for (half = 0; half < HALVES; half++) {
		bytes[4] = WIDE + half;
		memcpy(bytes + 6, upper + half * HALF, HALF);
		put32(bytes, check_of(bytes));
		bytes += JOURNAL_RECORD_LENGTH;
	}
	pack_one(record, record->operation + IS_WIDE, bytes);
	return bytes + JOURNAL_RECORD_LENGTH - first;
}

static bool is_operation(uint8_t kind)
{
	return kind >= JOURNAL_BEGIN && kind <= JOURNAL_RESET_OUT;
}

static void unpack_one(const uint8_t *bytes, struct journal_record *record)
{
	*record = (struct journal_record){
		.operation = bytes[4] & (IS_WIDE - 1),
		.protocol = bytes[5],
		.inside_port = get16(bytes + 6),
		.outside_port = get16(bytes + 8),
		.remote_port = get16(bytes + 10),
		.inside = get32(bytes + 12),
		.outside = get32(bytes + 16),
		.remote = get32(bytes + 20),
		.time_s = get32(bytes + 24) | (uint64_t)get32(bytes + 28) << 32,
	};
}

enum journal_unpacked journal__unpack(const uint8_t *bytes, struct journal_halves *halves,
				      struct journal_record *record)
{
	const unsigned int count = halves->count;
	const uint8_t kind = bytes[4];

	halves->count = 0;
	if (get32(bytes) != check_of(bytes))
		return UNPACKED_DAMAGED;
	if (kind >= WIDE && kind < WIDE + HALVES) {
		memcpy(halves->upper + (kind - WIDE) * HALF, bytes + 6, HALF);
		/* The first one begins anew, and a second one alone is of nothing. */
		halves->count = kind == WIDE ? 1 : 2 * count;
		return kind == WIDE || count == 1 ? UNPACKED_HALF : UNPACKED_DAMAGED;
	}
	if (!is_operation(kind) && (!is_operation(kind - IS_WIDE) || count != HALVES))
		return UNPACKED_DAMAGED;
	unpack_one(bytes, record);
	if (!(kind & IS_WIDE))
		return UNPACKED;
	record->inside |= address__get(halves->upper, UPPER) << 32;
	record->outside |= address__get(halves->upper + UPPER, UPPER) << 32;
	record->remote |= address__get(halves->upper + 2 * UPPER, UPPER) << 32;
	return UNPACKED;
}

void journal__pack_header(uint8_t bytes[static JOURNAL_HEADER_LENGTH])
{
	memcpy(bytes, magic, sizeof(magic));
	put32(bytes + 8, VERSION);
	put32(bytes + 12, 0);
}
