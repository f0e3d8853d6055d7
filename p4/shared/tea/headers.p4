// SPDX-License-Identifier: GPL-2.0-only
/* A row for switches, as <dart/tea.h> describes it. */
#ifndef DART_TEA_HEADERS_P4
#define DART_TEA_HEADERS_P4

#include "shared/rdma/headers.p4"
#include "sizes.p4"

header tea_row_h {
	bit<32> sequence;
	bit<8> stashed;
	bit<24> epoch;
}

header tea_cell_h {
	bit<32> check;
	bit<TEA_KEY_BITS> key;
	bit<TEA_VALUE_BITS> value;
#if TEA_PAD_BYTES > 0
	bit<(8 * TEA_PAD_BYTES)> zero;
#endif
}

header tea_row_end_h {
	bit<32> sequence;
}

header tea_tag_h {
	bit<32> psn;
	bit<16> length;
	bit<4> tries;	/* earlier sendings */
	bit<12> port;
	bit<32> check;
}

#define TEA_ROW_HEADERS							\
	tea_row_h tea_row;						\
	tea_cell_h[2 * TEA_CELLS] tea_cells;				\
	tea_row_end_h tea_row_end;					\
	tea_tag_h tea_tag;

#endif /* DART_TEA_HEADERS_P4 */
