// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds popular keys, as <dart/tea_sketch.h> describes.  The architecture defines
 * TeaEstimate, which counts a packet in the sketch, and TeaUnreported, which remembers
 * the reported keys.
 *
 * Include this after the architecture's tea/sketch.p4.  The caller reports the key when
 * it is popular: on v1model, by
 *
 *	digest<tea_popular_t>(TEA_POPULAR_RECEIVER, { fields of the key });
 */
#ifndef DART_TEA_SKETCH_P4
#define DART_TEA_SKETCH_P4

#include <dart/tea_sketch.h>

/*
 * Call this once for each packet whose key is neither in the cache nor in the stash.
 * @row_0 and @row_1: the CRCs of the key with DART_TEA_ROW_0 and DART_TEA_ROW_1, all 32
 * bits. @popular: whether to report the key now.
 */
control TeaSketch(in bit<32> row_0, in bit<32> row_1, out bool popular)
{
	TeaEstimate() tea_estimate;
	TeaUnreported() tea_unreported;
	bit<16> estimate;
	bit<16> threshold = 0;

	@name(".tea_popular_from")
	action popular_from(bit<16> packets)
	{
		threshold = packets;
	}

	/* The threshold, in packets of a period: its default action. */
	@name(".tea_popular")
	table popular_keys {
		actions = { popular_from; }
		default_action = popular_from(0);
	}

	apply {
		popular = false;
		popular_keys.apply();
		tea_estimate.apply(row_0, row_1, estimate);
		if (threshold != 0 && estimate >= threshold)
			tea_unreported.apply(row_0, row_1, popular);
	}
}

#endif /* DART_TEA_SKETCH_P4 */
