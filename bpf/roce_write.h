/* SPDX-License-Identifier: GPL-2.0-only */
/* Turns a frame into an RDMA WRITE to a collector: see <dart/store.h>. */
#ifndef ROCE_WRITE_H
#define ROCE_WRITE_H

#include "dart_tags.h"
#include "xdp_reporter.h"

const volatile struct reporter_crc_tables icrc_tables;

/* A row for each collector, as in the next map. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct reporter_reports);
} reporter_to SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct reporter_collector);
} collectors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DART_STORE_SHARES);
	__type(key, __u32);
	__type(value, struct reporter_share);
} shares SEC(".maps");

/* Linear: the XOR of two registers becomes the XOR of their results. */
static __always_inline __u32 crc_add_word(const volatile struct reporter_crc_tables *tables, __u32 crc,
					  __u32 word)
{
	crc ^= word;
	return tables->after[3][crc & 0xff] ^ tables->after[2][crc >> 8 & 0xff] ^
	       tables->after[1][crc >> 16 & 0xff] ^ tables->after[0][crc >> 24];
}

static __always_inline __u32 icrc_add(__u32 crc, __u32 word)
{
	return crc_add_word(&icrc_tables, crc, word);
}

/* A frame that lacks no more grows in front, where there is always room. */
#define FIT_IN_FRONT	64

/*
 * Makes the frame as long as a WRITE.  A longer frame loses its end, because its beginning is in a
 * cache; a frame that is much shorter grows at its end, if the driver has room there.
 */
static __always_inline bool fit(struct xdp_md *context, __u32 length)
{
	__s32 missing = length - (context->data_end - context->data);

	if (!missing)
		return true;
	if ((missing < 0 || missing > FIT_IN_FRONT) && !bpf_xdp_adjust_tail(context, missing))
		return true;
	return missing > 0 && !bpf_xdp_adjust_head(context, -missing);
}

/* Copies words, which may be unaligned, because the frame may be. */
static __always_inline void copy_constant(void *frame, const struct reporter_collector *to)
{
	const __u64 *from = (const void *)to->constant;
	__u64 *words = frame;
	__u32 i;

#pragma unroll
	for (i = 0; i < REPORTER_CONSTANT / 8; i++)
		words[i] = from[i];
	*(__u16 *)(words + i) = *(const __u16 *)(from + i);
}

#endif /* ROCE_WRITE_H */
