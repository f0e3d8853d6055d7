// SPDX-License-Identifier: GPL-2.0-only
/* The content of a report; a mirrored packet carries it to WriteReport. */
#ifndef DART_REPORT_P4
#define DART_REPORT_P4

/* Kinds of keys: the flow, or the flow and the switch. */
#define KEY_NONE	8w0
#define KEY_IPV4	8w1	/* 13 bytes */
#define KEY_IPV6	8w2	/* 37 bytes */
#define KEY_IPV4_HOP	8w3	/* 17 bytes */
#define KEY_IPV6_HOP	8w4	/* 41 bytes */

/* More fields, which a program may define. */
#ifndef REPORT_MORE
#define REPORT_MORE
#endif

struct report_t {
	bit<8> key;
	bit<128> source;	/* IPv4 addresses: the lowest 32 bits */
	bit<128> destination;
	bit<16> source_port;
	bit<16> destination_port;
	bit<8> protocol;
	bit<32> node;		/* the switch, if it is in the key */
	bit<160> value;
	bit<10> share;
	bit<8> collector;
	bit<8> copy;
	bit<16> session;	/* mirror session towards the collector */
	REPORT_MORE
}

#endif /* DART_REPORT_P4 */
