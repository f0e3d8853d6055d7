// SPDX-License-Identifier: GPL-2.0-only
/*
 * Searches a row for the entry of a packet, like shared/tea/search.p4: it looks at the
 * first and the last cell with the key.  A free cell has the protocol 0, which no packet
 * with ports uses.
 *
 * An action uses containers of one group of 16 only. So each part of a key shares a
 * group with the same part of the packet's key, which the parser makes, and the parts
 * of values are grouped likewise.
 */
#ifndef DART_TNA_TEA_SEARCH_P4
#define DART_TNA_TEA_SEARCH_P4

#include "hash.p4"
#include "headers.p4"
#include "value.p4"

#define TEA_ALL(step)							\
	step(0) step(1) step(2) step(3)

/* Afterwards all words are 0 if the cell contains the key. */
#define TEA_COMPARE(i)							\
	headers.cell_##i.source = headers.cell_##i.source ^ key.source;	\
	headers.cell_##i.destination = headers.cell_##i.destination ^	\
				       key.destination;			\
	headers.cell_##i.source_port = headers.cell_##i.source_port ^	\
				       key.source_port;			\
	headers.cell_##i.destination_port =				\
		headers.cell_##i.destination_port ^ key.destination_port; \
	headers.cell_##i.protocol = headers.cell_##i.protocol ^		\
				    key.protocol;
#define TEA_TAKE(i)							\
	action take_##i()						\
	{								\
		value.address = headers.cell_##i.address;		\
		value.port = headers.cell_##i.port;			\
		value.last = headers.cell_##i.last;			\
		check = headers.cell_##i.check;				\
	}
#define TEA_HAS_KEY(i)							\
	headers.cell_##i.source : ternary;				\
	headers.cell_##i.destination : ternary;				\
	headers.cell_##i.source_port : ternary;				\
	headers.cell_##i.destination_port : ternary;			\
	headers.cell_##i.protocol : ternary;
#define TEA_NO	_, _, _, _, _
#define TEA_YES	0, 0, 0, 0, 0

/* The first matching cell, in this order. */
#define TEA_CELLS_IN_ORDER(a, b, c, d)					\
	table cells {							\
		key = {							\
			TEA_HAS_KEY(a) TEA_HAS_KEY(b)			\
			TEA_HAS_KEY(c) TEA_HAS_KEY(d)			\
		}							\
		actions = { take_##a; take_##b; take_##c; take_##d; none; } \
		const default_action = none;				\
		const entries = {					\
			(TEA_YES, TEA_NO, TEA_NO, TEA_NO) : take_##a();	\
			(TEA_NO, TEA_YES, TEA_NO, TEA_NO) : take_##b();	\
			(TEA_NO, TEA_NO, TEA_YES, TEA_NO) : take_##c();	\
			(TEA_NO, TEA_NO, TEA_NO, TEA_YES) : take_##d();	\
		}							\
		size = 4;						\
	}

/* Check 0, which no entry uses, if no cell contains the key. */
control TeaFirstCell(inout headers_t headers, out tea_value_t value,
		     out bit<32> check)
{
	TEA_ALL(TEA_TAKE)

	action none()
	{
	}

	TEA_CELLS_IN_ORDER(0, 1, 2, 3)

	apply {
		check = 0;
		cells.apply();
	}
}

control TeaLastCell(inout headers_t headers, out tea_value_t value,
		    out bit<32> check)
{
	TEA_ALL(TEA_TAKE)

	action none()
	{
	}

	TEA_CELLS_IN_ORDER(3, 2, 1, 0)

	apply {
		check = 0;
		cells.apply();
	}
}

/* @found: 1 or 0. */
control TeaSearch(inout headers_t headers, in tea_key_t key,
		  inout tea_value_t value, out bit<8> found)
{
	TeaFirstCell() first_cell;
	TeaLastCell() last_cell;
	TeaEntryHash() first_hash;
	TeaEntryHash() last_hash;
	tea_value_t first;
	tea_value_t last;
	bit<32> first_check;
	bit<32> last_check;
	bit<32> first_right;
	bit<32> last_right;

	action compare()
	{
		TEA_ALL(TEA_COMPARE)
	}

	apply {
		found = 0;
		compare();
		first_cell.apply(headers, first, first_check);
		last_cell.apply(headers, last, last_check);
		first_hash.apply(headers, first, first_right);
		last_hash.apply(headers, last, last_right);
		if (first_check == first_right) {
			value = first;
			found = 1;
		} else if (last_check == last_right) {
			value = last;
			found = 1;
		}
	}
}

#endif /* DART_TNA_TEA_SEARCH_P4 */
