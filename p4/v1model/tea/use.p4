// SPDX-License-Identifier: GPL-2.0-only
/* The stamps of entries in use, as <dart/tea_use.h> describes them. */
#ifndef DART_V1MODEL_TEA_USE_P4
#define DART_V1MODEL_TEA_USE_P4

#include "hash.p4"
#include "shared/tea/use.p4"

#define TEA_USE_TIME(now)	((bit<DART_TEA_USE_TIME_BITS>)		\
				 ((now) >> DART_TEA_USE_SHIFT))
#define TEA_USE_CELL(crc)	((bit<32>)(crc)[TEA_USE_BITS - 1:0])

@name(".tea_used_0")
register<bit<DART_TEA_USE_TIME_BITS>>(1 << TEA_USE_BITS) tea_used_0;
@name(".tea_used_1")
register<bit<DART_TEA_USE_TIME_BITS>>(1 << TEA_USE_BITS) tea_used_1;

/* A packet with this key leaves by its entry. */
control TeaStampUse(in bit<TEA_KEY_BITS> key, in bit<48> now)
{
	TeaRowHash() row_hash;
	bit<32> row_0;
	bit<32> row_1;

	apply {
		row_hash.apply(key, row_0, row_1);
		tea_used_0.write(TEA_USE_CELL(row_0), TEA_USE_TIME(now));
		tea_used_1.write(TEA_USE_CELL(row_1), TEA_USE_TIME(now));
	}
}

#define TEA_USE_AGE(key)						\
	tea_used_0.read(time, TEA_USE_CELL(headers.tea_used[key].first)); \
	headers.tea_used[key].first =					\
		(bit<32>)(TEA_USE_TIME(now) - time);			\
	tea_used_1.read(time, TEA_USE_CELL(headers.tea_used[key].second)); \
	headers.tea_used[key].second =					\
		(bit<32>)(TEA_USE_TIME(now) - time);

/* Makes a whole question an answer; @answered: the packet was a question. */
control TeaAnswerUse(inout headers_t headers, in bit<48> self, in bit<48> now,
		     out bool answered)
{
	bit<DART_TEA_USE_TIME_BITS> time;

	apply {
		answered = headers.tea_used[DART_TEA_USE_KEYS - 1].isValid() &&
			   headers.tea_use.version == DART_TEA_USE_VERSION &&
			   headers.tea_use.kind == DART_TEA_USE_QUESTION;
		if (!answered)
			return;
		headers.ethernet.destination = headers.ethernet.source;
		headers.ethernet.source = self;
		headers.tea_use.kind = DART_TEA_USE_ANSWER;
		TEA_USE_AGE(0)
		TEA_USE_AGE(1)
		TEA_USE_AGE(2)
		TEA_USE_AGE(3)
		TEA_USE_AGE(4)
		TEA_USE_AGE(5)
		TEA_USE_AGE(6)
		TEA_USE_AGE(7)
		TEA_USE_AGE(8)
		TEA_USE_AGE(9)
		TEA_USE_AGE(10)
		TEA_USE_AGE(11)
		TEA_USE_AGE(12)
		TEA_USE_AGE(13)
		TEA_USE_AGE(14)
		TEA_USE_AGE(15)
	}
}

#endif /* DART_V1MODEL_TEA_USE_P4 */
