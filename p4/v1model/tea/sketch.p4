// SPDX-License-Identifier: GPL-2.0-only
/* The registers of the sketch and of the reported keys. */
#ifndef DART_V1MODEL_TEA_SKETCH_P4
#define DART_V1MODEL_TEA_SKETCH_P4

#include <dart/tea_sketch.h>

#define TEA_POPULAR_RECEIVER	1	/* simple_switch ignores it */

/* Adds 1 to a counter of a row, and takes it as the estimate if that is higher. */
#define TEA_COUNT(row, slot)						\
	@atomic {							\
		row.read(count, (bit<32>)(slot));			\
		count = count |+| 1;					\
		row.write((bit<32>)(slot), count);			\
	}								\
	if (count < estimate)						\
		estimate = count;

control TeaEstimate(in bit<32> row_0, in bit<32> row_1, out bit<16> estimate)
{
	@name(".tea_sketch_0")
	register<bit<16>>(DART_TEA_SKETCH_SLOTS) sketch_0;
	@name(".tea_sketch_1")
	register<bit<16>>(DART_TEA_SKETCH_SLOTS) sketch_1;
	@name(".tea_sketch_2")
	register<bit<16>>(DART_TEA_SKETCH_SLOTS) sketch_2;
	@name(".tea_sketch_3")
	register<bit<16>>(DART_TEA_SKETCH_SLOTS) sketch_3;
	bit<16> count;

	apply {
		estimate = DART_TEA_SKETCH_MAX;
		TEA_COUNT(sketch_0, row_0[15:0])
		TEA_COUNT(sketch_1, row_0[31:16])
		TEA_COUNT(sketch_2, row_1[15:0])
		TEA_COUNT(sketch_3, row_1[31:16])
	}
}

/* Tells whether a key is unreported in this period, and marks it as reported. */
control TeaUnreported(in bit<32> row_0, in bit<32> row_1, out bool unreported)
{
	@name(".tea_reported_0")
	register<bit<1>>(DART_TEA_SKETCH_SLOTS) reported_0;
	@name(".tea_reported_1")
	register<bit<1>>(DART_TEA_SKETCH_SLOTS) reported_1;
	bit<1> bit_0;
	bit<1> bit_1;

	apply {
		@atomic {
			reported_0.read(bit_0, (bit<32>)row_0[31:16]);
			reported_0.write((bit<32>)row_0[31:16], 1);
		}
		@atomic {
			reported_1.read(bit_1, (bit<32>)row_1[15:0]);
			reported_1.write((bit<32>)row_1[15:0], 1);
		}
		unreported = bit_0 == 0 || bit_1 == 0;
	}
}

#endif /* DART_V1MODEL_TEA_SKETCH_P4 */
