// SPDX-License-Identifier: GPL-2.0-only
/* Questions about the use of entries, and their answers: see <dart/tea_use.h>. */
#ifndef DART_TEA_USE_P4
#define DART_TEA_USE_P4

#include <dart/tea_use.h>

header tea_use_h {
	bit<8> version;
	bit<8> kind;
	bit<16> zero;
	bit<32> number;
}

/* Two CRCs in a question, and two ages in an answer. */
header tea_used_h {
	bit<32> first;
	bit<32> second;
}

#define TEA_USE_HEADERS							\
	tea_use_h tea_use;						\
	tea_used_h[DART_TEA_USE_KEYS] tea_used;

#define TEA_USE_STATE							\
	state use {							\
		packet.extract(headers.tea_use);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		packet.extract(headers.tea_used.next);			\
		transition accept;					\
	}

#endif /* DART_TEA_USE_P4 */
