/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * How a switch finds the keys that it should cache, and tells them to its control plane
 * (TEA, SIGCOMM 2020, sections 4.3 and 5.1).  See <dart/tea.h> for the lookup tables.
 *
 * P4 compilers read this header, too: it has only #defines.
 *
 * The sketch.  A switch counts each packet whose key is neither in its cache nor in the
 * stash in a count-min sketch: DART_TEA_SKETCH_ROWS rows of DART_TEA_SKETCH_SLOTS
 * counters of 16 bits, which stay at DART_TEA_SKETCH_MAX.  The packet adds 1 to one
 * counter of each row, and the smallest of these, after that, is the estimate for its
 * key: never less than the packets of the key in this period, up to
 * DART_TEA_SKETCH_MAX.
 *
 * The lowest and the highest 16 bits of the CRC of a key with DART_TEA_ROW_0, and then
 * of its CRC with DART_TEA_ROW_1, select its four counters.  A switch computes both
 * CRCs anyway, to look the row up. (The paper's switch counts the packets of cached
 * keys in the sketch, too.  Here each entry of the cache has a counter, and the sketch
 * counts only the other keys.)
 *
 * A CRC is linear, so keys that count up may leave half of a row, or three quarters,
 * unused. But a CRC does not map two such keys to the same 32 bits: if one half of the
 * CRCs is equal, the other half differs.
 *
 * Reported keys.  A key whose estimate is at least the threshold is popular, and is
 * reported once in a period: DART_TEA_REPORTED_ROWS rows of DART_TEA_SKETCH_SLOTS bits
 * are a Bloom filter.  The highest 16 bits of the CRC with DART_TEA_ROW_0 and the lowest
 * 16 bits of the CRC with DART_TEA_ROW_1 select its bits for a key.  After n reported
 * keys, the switch takes another popular key for a reported one with a probability of (n /
 * DART_TEA_SKETCH_SLOTS)^2.  In the next period the sketch does not count keys that are
 * cached by then, so these hide no other key.
 *
 * Periods.  The control plane ends a period: it clears the counters, and then the bits.
 * In the other order, all keys that have not been cached would be reported again at
 * once.  A key whose packets arrive between the two steps may be reported twice, or
 * count as less popular in this period.
 *
 * The threshold is 16 bits wide; 0: no key is popular.
 *
 * A report is the key, K bytes, and nothing else: on BMv2, a sample of a digest.
 */
#ifndef _UAPI_DART_TEA_SKETCH_H
#define _UAPI_DART_TEA_SKETCH_H

#define DART_TEA_SKETCH_ROWS	4
#define DART_TEA_SKETCH_SLOTS	65536	/* of a row */
#define DART_TEA_SKETCH_MAX	65535	/* of a counter */
#define DART_TEA_REPORTED_ROWS	2	/* of DART_TEA_SKETCH_SLOTS bits */

#endif /* _UAPI_DART_TEA_SKETCH_H */
