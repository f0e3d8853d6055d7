// SPDX-License-Identifier: GPL-2.0-only
/*
 * Searches a row for the entry of a key.  While the server moves an entry, two cells contain
 * it, one of which may be half written: so this control compares the first cell with the key
 * and the last one.  A free cell has the check 0 and seems to contain the key that consists
 * of zeros.
 */
#ifndef DART_TEA_SEARCH_P4
#define DART_TEA_SEARCH_P4

#include "headers.p4"
#include "state.p4"

#define TEA_CELL_HAS(i, otherwise)					\
	if (headers.tea_cells[i].check != 0 &&				\
	    headers.tea_cells[i].key == tea.key) {			\
		value = headers.tea_cells[i].value;			\
		check = headers.tea_cells[i].check;			\
	} otherwise

#if TEA_CELLS == 8
#define TEA_FIRST_CELL							\
	TEA_CELL_HAS(0, else) TEA_CELL_HAS(1, else)			\
	TEA_CELL_HAS(2, else) TEA_CELL_HAS(3, else)			\
	TEA_CELL_HAS(4, else) TEA_CELL_HAS(5, else)			\
	TEA_CELL_HAS(6, else) TEA_CELL_HAS(7, else)			\
	TEA_CELL_HAS(8, else) TEA_CELL_HAS(9, else)			\
	TEA_CELL_HAS(10, else) TEA_CELL_HAS(11, else)			\
	TEA_CELL_HAS(12, else) TEA_CELL_HAS(13, else)			\
	TEA_CELL_HAS(14, else) TEA_CELL_HAS(15, )
#define TEA_LAST_CELL							\
	TEA_CELL_HAS(15, else) TEA_CELL_HAS(14, else)			\
	TEA_CELL_HAS(13, else) TEA_CELL_HAS(12, else)			\
	TEA_CELL_HAS(11, else) TEA_CELL_HAS(10, else)			\
	TEA_CELL_HAS(9, else) TEA_CELL_HAS(8, else)			\
	TEA_CELL_HAS(7, else) TEA_CELL_HAS(6, else)			\
	TEA_CELL_HAS(5, else) TEA_CELL_HAS(4, else)			\
	TEA_CELL_HAS(3, else) TEA_CELL_HAS(2, else)			\
	TEA_CELL_HAS(1, else) TEA_CELL_HAS(0, )
#elif TEA_CELLS == 4
#define TEA_FIRST_CELL							\
	TEA_CELL_HAS(0, else) TEA_CELL_HAS(1, else)			\
	TEA_CELL_HAS(2, else) TEA_CELL_HAS(3, else)			\
	TEA_CELL_HAS(4, else) TEA_CELL_HAS(5, else)			\
	TEA_CELL_HAS(6, else) TEA_CELL_HAS(7, )
#define TEA_LAST_CELL							\
	TEA_CELL_HAS(7, else) TEA_CELL_HAS(6, else)			\
	TEA_CELL_HAS(5, else) TEA_CELL_HAS(4, else)			\
	TEA_CELL_HAS(3, else) TEA_CELL_HAS(2, else)			\
	TEA_CELL_HAS(1, else) TEA_CELL_HAS(0, )
#else
#error "TEA_CELLS has to be 8 or 4"
#endif

/* The value goes to tea.value only if the entry is found. */
control TeaSearch(in headers_t headers, inout tea_t tea, out bool found)
{
	TeaEntryHash() first_hash;
	TeaEntryHash() last_hash;
	bit<TEA_VALUE_BITS> value;
	bit<32> check;
	bit<32> right;

	apply {
		found = false;
		value = 0;
		check = 0;	/* the check of no entry */
		TEA_FIRST_CELL
		if (check != 0) {
			first_hash.apply(tea.key, value, right);
			if (check != right) {
				TEA_LAST_CELL
				last_hash.apply(tea.key, value, right);
			}
			if (check == right) {
				found = true;
				tea.value = value;
			}
		}
	}
}

#endif /* DART_TEA_SEARCH_P4 */
