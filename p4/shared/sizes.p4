// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes of all tables and registers in the memory of a switch.
 *
 * A collector costs, in bytes (DART, section 6: about 20):
 *
 *   entry of dart_collector   IP 4, queue pair 3, rkey 4, base 8,
 *                             mask 4, redundancy 1			24
 *   MAC, if it is not shared with the route to the collector		 6
 *   register dart_psn							 4
 *   in total								    28 or 34
 *
 * and each of its shares an entry of dart_share: collector 1, session 2.
 */
#ifndef DART_SIZES_P4
#define DART_SIZES_P4

#define FORWARD_ENTRIES		1024
#define SINK_ENTRIES		512	/* ports */
#define COLLECTOR_ENTRIES	64
#define CACHE_ENTRIES		8192	/* of 4 bytes; see state.p4 */
#define CACHE_BITS		13

/* Tables whose entries the program defines; a table without a key has 1. */
#define TALLY_ENTRIES		14	/* outcomes, and types of VLAN tags */
#define SHAPE_ENTRIES		16	/* of INT */
#define KEY_KINDS		4
#define COPY_ENTRIES		44	/* redundancies 1 to 8, random and all */

#define HOPS			5	/* the hops of a path that fit into a value */
#define EXTENSIONS		4	/* headers of IPv6 that are parsed */

#endif /* DART_SIZES_P4 */
