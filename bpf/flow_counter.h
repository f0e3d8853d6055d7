/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps of the programs that count packets of flows, for them and their loader.  A file that
 * includes this must first define the fixed-width types.
 */
#ifndef FLOW_COUNTER_H
#define FLOW_COUNTER_H

#define FLOW_COUNTER_KEY	40	/* bytes, of which a key of IPv6 has 37 */
#define FLOW_COUNTER_FLOWS	65536	/* in each of both maps */

struct flow_counter_key {
	__u8 bytes[FLOW_COUNTER_KEY];	/* then zeros */
	__u32 length;
};

/* Packets; a row for each CPU. */
struct flow_counter_rest {
	__u64 others;	/* of no flow: neither IPv4 nor IPv6, fragments, damaged headers */
	__u64 crowded;	/* of flows that found no room */
	__u64 counted;	/* in columns */
};

/* The sketch whose columns the program counts in. */
struct flow_counter_sketch {
	__u32 rows;
	__u32 columns_log2;
	__u32 is_count_sketch;
};

#endif /* FLOW_COUNTER_H */
