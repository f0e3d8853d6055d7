// SPDX-License-Identifier: GPL-2.0-only
/*
 * Postcards of hops: see <dart/postcard.h>.  A key has any length from 1 to 64 bytes, so it is parsed as
 * up to six headers whose lengths are powers of two, the longest first.  The others add nothing
 * to a CRC.
 */
#ifndef DART_V1MODEL_POSTCARDS_HEADERS_P4
#define DART_V1MODEL_POSTCARDS_HEADERS_P4

#include <dart/postcard.h>
#include <dart/store.h>

/* The CRCs of a key. */
struct postcard_crcs_t {
	bit<32> share;
	bit<32> checksum0;
	bit<32> checksum1;
	bit<32> slot0;
	bit<32> slot1;
	bit<32> slot2;
	bit<32> slot3;
	bit<32> slot4;
	bit<32> slot5;
	bit<32> slot6;
	bit<32> slot7;
}

header postcard_h {
	bit<8> version;
	bit<8> key_length;
	bit<8> hop;
	bit<8> hops;
	bit<32> value;
}

header key64_h {
	bit<512> bytes;
}

header key32_h {
	bit<256> bytes;
}

header key16_h {
	bit<128> bytes;
}

header key8_h {
	bit<64> bytes;
}

header key4_h {
	bit<32> bytes;
}

header key2_h {
	bit<16> bytes;
}

header key1_h {
	bit<8> bytes;
}

#define POSTCARD_HEADERS						\
	postcard_h postcard;						\
	key64_h key64;							\
	key32_h key32;							\
	key16_h key16;							\
	key8_h key8;							\
	key4_h key4;							\
	key2_h key2;							\
	key1_h key1;

#define POSTCARD_KEY(h)							\
	h.key64, h.key32, h.key16, h.key8, h.key4, h.key2, h.key1

/* The key as a number, with zeros after it; its length is in another field. */
#define POSTCARD_KEY_NUMBER(h, key)					\
	key = 0;							\
	if (h.key64.isValid())						\
		key = h.key64.bytes;					\
	if (h.key32.isValid())						\
		key[511:256] = h.key32.bytes;				\
	if (h.key16.isValid())						\
		key[255:128] = h.key16.bytes;				\
	if (h.key8.isValid())						\
		key[127:64] = h.key8.bytes;				\
	if (h.key4.isValid())						\
		key[63:32] = h.key4.bytes;				\
	if (h.key2.isValid())						\
		key[31:16] = h.key2.bytes;				\
	if (h.key1.isValid())						\
		key[15:8] = h.key1.bytes;

#define POSTCARD_BYTES		16w16	/* of UDP and of a postcard before its key */

/* Parses the key by one bit of its length. */
#define POSTCARD_KEY_STATE(number, bit_of_length, next)			\
	state part_of_key##number {					\
		transition select(headers.postcard.key_length[bit_of_length:bit_of_length]) { \
			1: key##number;					\
			default: next;					\
		}							\
	}								\
									\
	state key##number {						\
		packet.extract(headers.key##number);			\
		transition next;					\
	}

/*
 * All UDP is parsed as if it were a postcard, as the parser does not know the port.  A packet that is
 * none keeps all its bytes.
 */
#define POSTCARD_STATES							\
	state postcard {						\
		verify(headers.udp.length > POSTCARD_BYTES &&		\
		       headers.udp.length <= room_in_ip,		\
		       error.PostcardMalformed);			\
		packet.extract(headers.postcard);			\
		verify(headers.postcard.version == DART_POSTCARD_VERSION && \
		       headers.postcard.key_length <= DART_STORE_KEY_MAX && \
		       headers.udp.length == POSTCARD_BYTES +		\
		       (bit<16>)headers.postcard.key_length &&		\
		       headers.postcard.hops <= DART_POSTCARD_HOPS_MAX && \
		       headers.postcard.hop < headers.postcard.hops &&	\
		       headers.postcard.value != DART_POSTCARD_UNKNOWN && \
		       headers.postcard.value != DART_POSTCARD_NO_HOP,	\
		       error.PostcardMalformed);			\
		transition part_of_key64;				\
	}								\
									\
	POSTCARD_KEY_STATE(64, 6, part_of_key32)			\
	POSTCARD_KEY_STATE(32, 5, part_of_key16)			\
	POSTCARD_KEY_STATE(16, 4, part_of_key8)				\
	POSTCARD_KEY_STATE(8, 3, part_of_key4)				\
	POSTCARD_KEY_STATE(4, 2, part_of_key2)				\
	POSTCARD_KEY_STATE(2, 1, part_of_key1)				\
	POSTCARD_KEY_STATE(1, 0, accept)

#endif /* DART_V1MODEL_POSTCARDS_HEADERS_P4 */
