/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds up strips of sketches: "Merging" in <dart/sketch.h>.  The program takes the WRITEs that
 * sketchers send to their own parts, which pass it on their way to the collector, and sends the sum
 * of all sketchers to the part of the translator.  Sums wait in a map until the strip of each
 * sketcher has come, or a time has passed: then the strip that makes the WRITE due becomes this
 * WRITE.  A strip that comes later is added, and the sum is written again.
 *
 * A frame becomes one WRITE only: a strip of a new period that needs the place of a sum that waits
 * writes this sum.  Its own sum, if it is complete at once, is written by its age.
 */
#ifndef MERGE_H
#define MERGE_H

#include <dart/sketch.h>
#include <dart/store.h>

#include "elapsed.h"
#include "sequence.h"
#include "telemetry.h"

/* How far the clock of a sketcher may be ahead of that of this host. */
#define MERGE_AHEAD_S		60
#define NS_PER_S		1000000000ULL

/* Sums whose age a strip looks at. */
#define MERGE_LOOKS		8

#define MERGE_COUNTERS		(DART_SKETCH_STRIP_COLUMNS * DART_SKETCH_ROWS_MAX)
#define MERGE_HEADERS		(20 + 8 + 12 + 16)	/* bytes: IP, UDP, BTH, RETH */
#define MERGE_HEADER_WORDS	(MERGE_HEADERS / 4)
/* Words of a strip: its period, its reporters and number, its counters. */
#define MERGE_STRIP_HEADER	(DART_SKETCH_STRIP_COUNTERS / 4)
#define MERGE_REPORTERS_MAX	0xffff

const volatile struct reporter_merging merging;

/* By sketcher: where its strips come from and go to. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * DART_SKETCH_PARTS_MAX);
	__type(key, struct reporter_source);
	__type(value, __u32);
} sketchers SEC(".maps");

/* The strips of both banks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct reporter_sum);
} sums SEC(".maps");

/* A frame of this CPU: as it came, from its IP header on, and the strip that it becomes. */
struct merge_frame {
	__u32 headers[MERGE_HEADER_WORDS];
	__u32 strip[DART_SKETCH_STRIP_MAX / 4 + 1]; /* with the ICRC after it */
	__u32 hand;	/* the sum that is looked at next */
	__u32 place;	/* of the sum */
	__u32 sum[DART_SKETCH_STRIP_MAX / 4];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct merge_frame);
} merge_frames SEC(".maps");

enum merge_outcome {
	MERGE_GATHERED,
	MERGE_DUE,
	MERGE_STALE,
};

/* Base and extended transport header of a WRITE. */
struct write_header {
	__u8 opcode;
	__u8 rest_of_bth[3];
	__be32 queue_pair;
	__be32 psn;
	__be32 address[2];
	__be32 rkey;
	__be32 length;
};

static __always_inline struct merge_frame *merge__frame(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&merge_frames, &zero);
}

static __always_inline __u32 merge__counters(void)
{
	return DART_SKETCH_STRIP_COLUMNS * merging.rows;
}

/* Bytes of a strip. */
static __always_inline __u32 merge__strip_length(void)
{
	return DART_SKETCH_STRIP_COUNTERS + 4 * merge__counters() + DART_SKETCH_STRIP_CRC;
}

static __always_inline __u32 merge__frame_length(void)
{
	return sealed_frame_length(merge__strip_length());
}

static __always_inline __u32 merge__mask(void)
{
	return (1U << (merging.strips_log2 & 31)) - 1;
}

/* ---- strips that come */

/* Is the copy whole?  Both CRCs of it are right, and its strip can be one of this sketch. */
static __noinline int merge__check(void)
{
	const __u32 words = merge__strip_length() / 4 - 1;
	__u32 icrc = icrc_add(icrc_add(~0, ~0), ~0), crc = ~0, both, i;
	const struct merge_frame *frame = merge__frame();

	if (!frame)
		return TELEMETRY_MALFORMED;
#pragma unroll
	for (i = 0; i < MERGE_HEADER_WORDS; i++)
		icrc = icrc_add(icrc, frame->headers[i] | mask_of_word(i));
#pragma clang loop unroll(disable)
	for (i = 0; i < DART_SKETCH_STRIP_MAX / 4 - 1 && i < words; i++) {
		icrc = icrc_add(icrc, frame->strip[i]);
		crc = icrc_add(crc, frame->strip[i]);
	}
	if (frame->strip[i + 1] != ~icrc_add(icrc, frame->strip[i]))
		return TELEMETRY_DAMAGED;
	both = bpf_ntohl(frame->strip[1]);
	if (frame->strip[i] != bpf_htonl(~crc) || !frame->strip[0] || !(both >> 16) ||
	    (both & 0xffff) > merge__mask())
		return TELEMETRY_MALFORMED;
	return TELEMETRY_OK;
}

/* Copies the WRITE of a strip by one of the sketchers, and checks it. */
static __always_inline int merge__read(struct cursor *cursor, __u32 *sketcher)
{
	const __be16 port = bpf_htons(DART_STORE_UDP_PORT);
	const __u32 length = MERGE_HEADERS + merge__strip_length() + 4;
	struct merge_frame *frame = merge__frame();
	struct reporter_source source = { };
	const struct write_header *header;
	struct datagram datagram;
	struct telemetry unused;
	const __u32 *number;
	int ret;

	ret = read_datagram(cursor, port, port, &unused, &datagram);
	if (ret)
		return ret;
	header = cursor->at;
	if (!frame || datagram.inner.is_ipv6 || is_cut(cursor, sizeof(*header)) ||
	    header->opcode != DART_STORE_BTH_OPCODE)
		return TELEMETRY_NONE;
	source.address = datagram.inner.ipv4->saddr;
	source.queue_pair = header->queue_pair & bpf_htonl(PSN_MASK);
	number = bpf_map_lookup_elem(&sketchers, &source);
	if (!number)
		return TELEMETRY_NONE;
	*sketcher = *number;
	if (datagram.inner.ipv4->ihl != 5 || datagram.room != length - 20 - 8 ||
	    header->length != bpf_htonl(merge__strip_length()))
		return TELEMETRY_MALFORMED;
	if (bpf_xdp_load_bytes(cursor->context, (const void *)datagram.inner.ipv4 - cursor->begin,
			       frame, length))
		return TELEMETRY_TRUNCATED;
	return merge__check();
}

/* ---- sums; their lock is held */

static __always_inline __s64 limit(__s64 sum)
{
	const __s64 last = 0x7fffffff;

	if (sum > last)
		return last;
	return sum < -last ? -last : sum;
}

static __always_inline bool is_last(__s64 counter)
{
	return counter >= 0x7fffffff || counter <= -0x7fffffff;
}

/* The sum of two counters, which stays at the last value. */
static __always_inline __u32 add_counter(__u32 counter, __u32 other)
{
	__u64 sum = (__u64)counter + other;

	if (merging.kind == DART_SKETCH_COUNT_MIN)
		return sum >> 32 ? ~0U : sum;
	if (is_last((__s32)counter))
		return limit((__s32)counter);
	if (is_last((__s32)other))
		return limit((__s32)other);
	return limit((__s64)(__s32)counter + (__s32)other);
}

static __always_inline bool sum__waits(const struct reporter_sum *sum)
{
	return sum->period && sum->reporters != sum->written;
}

/* Copies the strip of a sum that is written now, but its CRC. */
static __always_inline void sum__take(struct reporter_sum *sum, __u32 place,
				      struct merge_frame *frame)
{
	__u32 i;

	frame->place = place;
	frame->sum[0] = bpf_htonl(sum->period);
	frame->sum[1] = bpf_htonl(sum->reporters << 16 | (place & merge__mask()));
#pragma clang loop unroll(disable)
	for (i = 0; i < MERGE_COUNTERS && i < merge__counters(); i++)
		frame->sum[MERGE_STRIP_HEADER + i] = bpf_htonl(sum->counters[i]);
	sum->written = sum->reporters;
}

static __always_inline void sum__begin(struct reporter_sum *sum, __u32 period, __u64 now)
{
	__u32 i;

	sum->period = period;
	sum->reporters = 0;
	sum->written = 0;
	sum->sketchers = 0;
	sum->begun = now;
#pragma clang loop unroll(disable)
	for (i = 0; i < MERGE_COUNTERS && i < merge__counters(); i++)
		sum->counters[i] = 0;
}

static __always_inline void sum__add(struct reporter_sum *sum, const struct merge_frame *frame,
				     __u64 sketcher, __u64 now)
{
	__u32 i;

	if (sum->reporters == sum->written)
		sum->since = now;
	sum->sketchers |= sketcher;
	sum->reporters += bpf_ntohl(frame->strip[1]) >> 16;
	if (sum->reporters > MERGE_REPORTERS_MAX)
		sum->reporters = MERGE_REPORTERS_MAX;
#pragma clang loop unroll(disable)
	for (i = 0; i < MERGE_COUNTERS && i < merge__counters(); i++)
		sum->counters[i] = add_counter(sum->counters[i],
					       bpf_ntohl(frame->strip[MERGE_STRIP_HEADER + i]));
}

/*
 * Has the period not begun, by the clock of this host?  TAI is UTC, or 37 s ahead of it where the
 * host knows that.  A strip of such a period would take the place of the strips of all sketchers.
 */
static __always_inline bool is_future(__u32 period)
{
	return (__u64)period * merging.period > bpf_ktime_get_tai_ns() / NS_PER_S + MERGE_AHEAD_S;
}

/* Adds the strip of sketcher @number.  Says whether the sum is due that the frame has now. */
__noinline int merge__add(__u32 number)
{
	const __u64 sketcher = 1ULL << (number & 63), now = bpf_ktime_get_coarse_ns();
	struct merge_frame *frame = merge__frame();
	int outcome = MERGE_GATHERED;
	struct reporter_sum *sum;
	__u32 period, place;

	if (!frame)
		return MERGE_GATHERED;
	period = bpf_ntohl(frame->strip[0]);
	if (is_future(period))
		return MERGE_STALE;
	place = ((period & 1) << (merging.strips_log2 & 31)) |
		(bpf_ntohl(frame->strip[1]) & merge__mask());
	sum = bpf_map_lookup_elem(&sums, &place);
	if (!sum)
		return MERGE_GATHERED;
	bpf_spin_lock(&sum->lock);
	if (sum->period != period &&
	    (period > sum->period || has_passed(sum->begun, now, merging.forget_ns))) {
		if (sum__waits(sum)) {
			sum__take(sum, place, frame);
			outcome = MERGE_DUE;
		}
		sum__begin(sum, period, now);
	}
	if (sum->period != period || sum->sketchers & sketcher) {
		outcome = MERGE_STALE;
	} else {
		sum__add(sum, frame, sketcher, now);
		if (outcome != MERGE_DUE && sum->sketchers == merging.sketchers) {
			sum__take(sum, place, frame);
			outcome = MERGE_DUE;
		}
	}
	bpf_spin_unlock(&sum->lock);
	return outcome;
}

/* Returns 1 if the sum has strips that have waited for @age ns: the frame has it then. */
__noinline int merge__take_waiting(__u32 place, __u64 age)
{
	struct reporter_sum *sum = bpf_map_lookup_elem(&sums, &place);
	struct merge_frame *frame = merge__frame();
	const __u64 now = bpf_ktime_get_coarse_ns();
	int is_due;

	if (!sum || !frame)
		return 0;
	/* Another CPU may change it: the lock is only for sums that are due. */
	if (!sum__waits(sum) || !has_passed(sum->since, now, age))
		return 0;
	bpf_spin_lock(&sum->lock);
	is_due = sum__waits(sum) && has_passed(sum->since, now, age);
	if (is_due)
		sum__take(sum, place, frame);
	bpf_spin_unlock(&sum->lock);
	return is_due;
}

/* Looks at some sums, at all of them in turn, so that any strip writes a sum that has waited. */
static __always_inline int merge__look(void)
{
	const __u32 mask = 2 * merge__mask() + 1;
	struct merge_frame *frame = merge__frame();
	__u32 i;

	if (!frame)
		return 0;
#pragma clang loop unroll(disable)
	for (i = 0; i < MERGE_LOOKS; i++) {
		frame->hand = (frame->hand + 1) & mask;
		if (merge__take_waiting(frame->hand, merging.age_ns))
			return 1;
	}
	return 0;
}

/* Writes the taken sum into the packet.  Returns 0, or 1 without a collector: the sum is lost. */
__noinline int merge__write(struct xdp_md *context)
{
	const struct merge_frame *frame = merge__frame();
	struct sealed_write write = { .length = merge__strip_length() };

	if (!frame)
		return 1;
	write.number = frame->place & merge__mask();
	write.offset = (__u64)frame->place * write.length;
	return write_sealed(context, &write, frame->sum, DART_SKETCH_STRIP_MAX);
}

#endif /* MERGE_H */
