/* SPDX-License-Identifier: GPL-2.0-only */
/* Turns a frame into an RDMA WRITE to a collector: see <dart/store.h>. */
#ifndef ROCE_WRITE_H
#define ROCE_WRITE_H

#include "dart_tags.h"
#include "xdp_reporter.h"

/* The second ones are for a word that another word follows. */
const volatile struct reporter_crc_tables icrc_tables[2];

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
static __always_inline __u32
crc_add_word(const volatile struct reporter_crc_tables *tables, __u32 crc, __u32 word)
{
	crc ^= word;
	return tables->after[3][crc & 0xff] ^ tables->after[2][crc >> 8 & 0xff] ^
	       tables->after[1][crc >> 16 & 0xff] ^ tables->after[0][crc >> 24];
}

static __always_inline __u32 icrc_add(__u32 crc, __u32 word)
{
	return crc_add_word(&icrc_tables[0], crc, word);
}

/* Two words in the time of one: only the first one waits for @crc. */
static __always_inline __u32 icrc_add_two(__u32 crc, __u32 word, __u32 next)
{
	return crc_add_word(&icrc_tables[1], crc, word) ^ icrc_add(0, next);
}

/* A frame that lacks no more grows in front, where there is always room. */
#define FIT_IN_FRONT	64

/* The room there: XDP_PACKET_HEADROOM without struct xdp_frame and the header of virtio-net. */
#define ROOM_IN_FRONT	(256 - 40 - 12)

/*
 * Makes the frame as long as a WRITE.  A longer frame loses its end, because its beginning is in a
 * cache; a frame that is much shorter grows at its end, if the driver has room there.  veth has less
 * than a cache line there: a short frame grows at both ends, which is enough for 256 bytes of payload
 * if it has 65 bytes.  A frame without room is not changed.
 */
static __always_inline bool fit(struct xdp_md *context, __u32 length)
{
	__s32 missing = length - (context->data_end - context->data);
	__s32 in_front;

	if (!missing)
		return true;
	if ((missing < 0 || missing > FIT_IN_FRONT) && !bpf_xdp_adjust_tail(context, missing))
		return true;
	if (missing < 0)
		return false;
	in_front = missing < ROOM_IN_FRONT ? missing : ROOM_IN_FRONT;
	if (bpf_xdp_adjust_head(context, -in_front))
		return false;
	if (missing == in_front || !bpf_xdp_adjust_tail(context, missing - in_front))
		return true;
	bpf_xdp_adjust_head(context, in_front);
	return false;
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

/* ---- WRITEs to memory that has one collector: batches of journals and strips of sketches */

#define SEALED_RETH	16	/* bytes */
#define SEALED_ICRC	4	/* bytes */
/* UDP source ports of lists and strips. */
#define SEALED_PORTS	1024

/* A WRITE whose payload ends with the CRC-32 of all bytes before it. */
struct sealed_write {
	__u64 offset;	/* in the memory of the collector */
	__u32 number;	/* of a list or strip: chooses the source port */
	__u32 length;	/* of the payload, with its CRC: a constant to the verifier */
};

static __always_inline __u32 sealed_frame_length(__u32 payload)
{
	return REPORTER_CONSTANT + 4 + SEALED_RETH + payload + SEALED_ICRC;
}

/* The only collector; NULL while another queue pair takes the place of its former one. */
static __always_inline const struct reporter_collector *
lone_collector(const struct reporter_share **share)
{
	__u32 zero = 0;

	*share = bpf_map_lookup_elem(&shares, &zero);
	if (!*share || (*share)->collector)
		return NULL;
	return bpf_map_lookup_elem(&collectors, &zero);
}

/* The change of the ICRC's register after the BTH by another source port than that of number 0. */
static __always_inline __u32 icrc_of_port(__be16 port)
{
	__u32 crc = icrc_add(0, port ^ bpf_htons(DART_STORE_UDP_SOURCE_BASE)), i;

	/* The rest of the UDP header, and the BTH. */
#pragma unroll
	for (i = 0; i < 4; i++)
		crc = icrc_add(crc, 0);
	return crc;
}

/*
 * Writes the frame of @write, which has its length, to the only collector.  @words: the payload
 * but its CRC, in a map value of at least @most bytes.  Returns 0, or 1 without a collector.
 */
static __always_inline int write_sealed(struct xdp_md *context, const struct sealed_write *write,
					const __u32 *words, __u32 most)
{
	__u32 payload_crc = ~0, crc, zero = 0, i;
	void *data = (void *)(long)context->data;
	const struct reporter_collector *to;
	const struct reporter_memory *memory;
	const struct reporter_share *share;
	struct reporter_reports *sent;
	__u32 *rest;
	__u64 address;
	__be16 port;

	to = lone_collector(&share);
	sent = bpf_map_lookup_elem(&reporter_to, &zero);
	if (!to || !share || !sent ||
	    data + sealed_frame_length(write->length) > (void *)(long)context->data_end)
		return 1;
	/* One access: the index may change at any time. */
	memory = &to->memories[*(const volatile __u32 *)&to->current & 1];
	address = memory->base + write->offset;
	port = bpf_htons(DART_STORE_UDP_SOURCE_BASE + write->number % SEALED_PORTS);
	copy_constant(data, to);
	*(__be16 *)(data + sizeof(struct ethhdr) + sizeof(struct iphdr)) = port;

	rest = data + REPORTER_CONSTANT;
	rest[0] = bpf_htonl((sent->first_psn + __sync_fetch_and_add(&sent->reports, 1)) & 0xffffff);
	rest[1] = bpf_htonl(address >> 32);
	rest[2] = bpf_htonl(address);
	rest[3] = memory->rkey;
	rest[4] = bpf_htonl(write->length);
	crc = share->icrc ^ icrc_of_port(port) ^ icrc_add(0, rest[0]);
	for (i = 1; i < 5; i++)
		crc = icrc_add(crc, rest[i]);

	rest += 5;
#pragma clang loop unroll(disable)
	for (i = 0; i < most / 4 - 1; i++) {
		if (i >= write->length / 4 - 1)
			break;
		payload_crc = icrc_add(payload_crc, words[i]);
		crc = icrc_add(crc, words[i]);
		rest[i] = words[i];
	}
	rest[i] = bpf_htonl(~payload_crc);
	rest[i + 1] = ~icrc_add(crc, rest[i]);
	return 0;
}

#endif /* ROCE_WRITE_H */
