// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CRCs of <dart/tea.h>.  The result of a hash must be alone in its action, and the
 * action must be named: see ../hash.p4.  The program defines TEA_VALUE(v), the parts of its
 * values.
 */
#ifndef DART_TNA_TEA_HASH_P4
#define DART_TNA_TEA_HASH_P4

#include <dart/tea.h>

#include "headers.p4"

#define TEA_KEY(h) h.ipv4.source, h.ipv4.destination, h.ports.source,	\
	h.ports.destination, h.ipv4.protocol

#define TEA_CRC(name, value)						\
	CRCPolynomial<bit<32>>(value, true, false, false, 0xffffffff,	\
			       0xffffffff) name##_polynomial;		\
	Hash<bit<32>>(HashAlgorithm_t.CUSTOM, name##_polynomial) name;

/* The home of a key is the sum of both CRCs, under the mask of the table. */
control TeaRowHash(inout headers_t headers, out bit<32> row_0,
		   out bit<32> row_1)
{
	TEA_CRC(first, DART_TEA_ROW_0)
	TEA_CRC(second, DART_TEA_ROW_1)

	action get_first()
	{
		row_0 = first.get({ TEA_KEY(headers) });
	}

	action get_second()
	{
		row_1 = second.get({ TEA_KEY(headers) });
	}

	apply {
		get_first();
		get_second();
	}
}

control TeaShareHash(inout headers_t headers, out bit<32> share)
{
	TEA_CRC(hash, DART_TEA_SHARE)

	action get()
	{
		share = hash.get({ TEA_KEY(headers) });
	}

	apply {
		get();
	}
}

/* The check of an entry. */
control TeaEntryHash(inout headers_t headers, in tea_value_t value,
		     out bit<32> check)
{
	TEA_CRC(hash, DART_TEA_CHECK)

	action get()
	{
		check = hash.get({ TEA_KEY(headers), TEA_VALUE(value) });
	}

	apply {
		get();
		if (check == 0)
			check = 1;
	}
}

/* The check of a tag. */
control TeaTagHash(inout headers_t headers, in bit<24> epoch,
		   out bit<32> check)
{
	TEA_CRC(hash, DART_TEA_CHECK)

	action get()
	{
		check = hash.get({ headers.tag.psn, headers.tag.length,
				   headers.tag.sending, epoch,
				   TEA_KEY(headers) });
	}

	apply {
		get();
	}
}

#endif /* DART_TNA_TEA_HASH_P4 */
