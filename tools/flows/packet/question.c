// SPDX-License-Identifier: GPL-2.0-only
/* Questions, and answers: see question.h. */
#include "question.h"

#include <dart/tea.h>
#include <libdart/store/store_hash.h>
#include <string.h>

#include "packet_internal.h"

#define ETHERTYPE 12
#define VERSION 14
#define KIND 15
#define NUMBER 18
#define KEYS 22
#define KEY_LENGTH 8
#define UNIT_NS ((1ULL << DART_TEA_USE_SHIFT) * 1000)

_Static_assert(KEYS + DART_TEA_USE_KEYS * KEY_LENGTH == DART_TEA_USE_LENGTH, "all bytes");

void question__begin(struct question_frame *frame, const uint8_t sender[static 6], uint32_t number)
{
	memset(frame, 0, sizeof(*frame));
	/* The address of the switch is not known here, and bridges pass this one on. */
	memset(frame->bytes, 0xff, 6);
	memcpy(frame->bytes + 6, sender, 6);
	put16(frame->bytes + ETHERTYPE, DART_TEA_USE_ETHERTYPE);
	frame->bytes[VERSION] = DART_TEA_USE_VERSION;
	frame->bytes[KIND] = DART_TEA_USE_QUESTION;
	put32(frame->bytes + NUMBER, number);
}

void question__put_key(struct question_frame *frame, unsigned int place, const void *key,
		       size_t length)
{
	uint8_t *bytes = frame->bytes + KEYS + place * KEY_LENGTH;

	put32(bytes, dart_store__crc(DART_TEA_ROW_0, key, length));
	put32(bytes + 4, dart_store__crc(DART_TEA_ROW_1, key, length));
}

bool question__read_answer(const void *frame, size_t length, uint32_t *number,
			   uint64_t idle_ns[static DART_TEA_USE_KEYS])
{
	const uint8_t *bytes = frame;
	unsigned int i;

	if (length < DART_TEA_USE_LENGTH || get16(bytes + ETHERTYPE) != DART_TEA_USE_ETHERTYPE ||
	    bytes[VERSION] != DART_TEA_USE_VERSION || bytes[KIND] != DART_TEA_USE_ANSWER)
		return false;
	*number = get32(bytes + NUMBER);
	for (i = 0; i < DART_TEA_USE_KEYS; i++) {
		const uint32_t first = get32(bytes + KEYS + i * KEY_LENGTH),
			       second = get32(bytes + KEYS + i * KEY_LENGTH + 4);
		/* Another key may have used one cell later. */
		const uint32_t age = first > second ? first : second;

		idle_ns[i] = age ? (age - 1) * UNIT_NS : 0;
	}
	return true;
}
