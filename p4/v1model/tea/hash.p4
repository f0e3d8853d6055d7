// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CRCs of <dart/tea.h>.  As in ../hash.p4, the name of the field that receives a CRC
 * tells the control plane its polynomial.
 */
#ifndef DART_V1MODEL_TEA_HASH_P4
#define DART_V1MODEL_TEA_HASH_P4

#include <dart/tea.h>

#include "shared/tea/headers.p4"

#define TEA_CRC_OF(field, ...)						\
	hash(field, HashAlgorithm.crc32_custom, 64w0, { __VA_ARGS__ },	\
	     64w0x100000000)

/* The home of a key is the sum of both CRCs, under the mask of the table. */
control TeaRowHash(in bit<TEA_KEY_BITS> key, out bit<32> row_0,
		   out bit<32> row_1)
{
	bit<32> tea_row0;
	bit<32> tea_row1;

	apply {
		TEA_CRC_OF(tea_row0, key);
		TEA_CRC_OF(tea_row1, key);
		row_0 = tea_row0;
		row_1 = tea_row1;
	}
}

control TeaShareHash(in bit<TEA_KEY_BITS> key, out bit<10> share)
{
	bit<32> tea_share;

	apply {
		TEA_CRC_OF(tea_share, key);
		share = tea_share[DART_TEA_SHARE_BITS - 1 : 0];
	}
}

/* The check of an entry. */
control TeaEntryHash(in bit<TEA_KEY_BITS> key, in bit<TEA_VALUE_BITS> value,
		     out bit<32> check)
{
	bit<32> tea_check;

	apply {
		TEA_CRC_OF(tea_check, key, value);
		check = tea_check;
		if (check == 0)
			check = 1;
	}
}

/* The check of a tag. */
control TeaTagHash(in tea_tag_h tag, in bit<24> epoch,
		   in bit<TEA_KEY_BITS> key, out bit<32> check)
{
	bit<32> tea_check;

	apply {
		TEA_CRC_OF(tea_check, tag.psn, tag.length, tag.tries,
			   tag.port, epoch, key);
		check = tea_check;
	}
}

#endif /* DART_V1MODEL_TEA_HASH_P4 */
