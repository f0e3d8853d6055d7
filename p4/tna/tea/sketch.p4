// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds popular keys, as <dart/tea_sketch.h> describes: a key is popular when all four
 * counters reach the threshold, and is reported once in a period.
 */
#ifndef DART_TNA_TEA_SKETCH_P4
#define DART_TNA_TEA_SKETCH_P4

#include <dart/tea_sketch.h>

#define TEA_SKETCH_ROW(n)						\
	Register<bit<16>, bit<16>>(DART_TEA_SKETCH_SLOTS, 0) sketch_##n; \
	RegisterAction<bit<16>, bit<16>, bit<8>>(sketch_##n) count_##n = { \
		void apply(inout bit<16> value, out bit<8> is_high)	\
		{							\
			is_high = 0;					\
			if (value + 1 >= threshold)				\
				is_high = 1;				\
			value = value |+| 1;				\
		}							\
	};

#define TEA_REPORTED(n)							\
	Register<bit<1>, bit<16>>(DART_TEA_SKETCH_SLOTS, 0) reported_##n; \
	RegisterAction<bit<1>, bit<16>, bit<1>>(reported_##n) report_##n = { \
		void apply(inout bit<1> value, out bit<1> before)	\
		{							\
			before = value;					\
			value = 1;					\
		}							\
	};

/* @row_0, @row_1: the CRCs of the key. */
control TeaSketch(in bit<32> row_0, in bit<32> row_1, out bool popular)
{
	bit<16> threshold = 0;
	bit<8> high_0;
	bit<8> high_1;
	bit<8> high_2;
	bit<8> high_3;
	bit<1> known_0;
	bit<1> known_1;

	@name(".tea_sketch_0")
	TEA_SKETCH_ROW(0)
	@name(".tea_sketch_1")
	TEA_SKETCH_ROW(1)
	@name(".tea_sketch_2")
	TEA_SKETCH_ROW(2)
	@name(".tea_sketch_3")
	TEA_SKETCH_ROW(3)
	@name(".tea_reported_0")
	TEA_REPORTED(0)
	@name(".tea_reported_1")
	TEA_REPORTED(1)

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
		size = 1;
	}

	apply {
		popular = false;
		popular_keys.apply();
		high_0 = count_0.execute(row_0[15:0]);
		high_1 = count_1.execute(row_0[31:16]);
		high_2 = count_2.execute(row_1[15:0]);
		high_3 = count_3.execute(row_1[31:16]);
		if (threshold != 0 && high_0 == 1 && high_1 == 1 && high_2 == 1 &&
		    high_3 == 1) {
			known_0 = report_0.execute(row_0[31:16]);
			known_1 = report_1.execute(row_1[15:0]);
			if (known_0 == 0 || known_1 == 0)
				popular = true;
		}
	}
}

#endif /* DART_TNA_TEA_SKETCH_P4 */
