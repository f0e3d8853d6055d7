// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports to stores from Linux: a frame with telemetry (see int_md.h, postcard.h)
 * becomes the WRITE of its report, as <dart/store.h> describes, and is sent to the
 * collector.  Other frames pass.  Another program appends to a journal instead: the frame whose
 * entry fills a batch becomes the WRITE of this batch, see append.h.  A third one gathers the
 * postcards of a path: one of them becomes the report of this path, see translate.h.  A fourth one
 * adds up the strips of sketchers: one of them becomes the WRITE of the sum, see merge.h.
 *
 * An XDP program cannot create frames: the received frame becomes the report.  So
 * the interface must receive copies, or frames that have no other receiver.  For
 * all copies of a key the kernel clones the frame.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include <dart/store.h>

#include "append.h"
#include "merge.h"
#include "outcomes.h"
#include "sequence.h"
#include "telemetry.h"
#include "translate.h"

const volatile struct reporter_crc_tables key_tables[REPORTER_CRCS];

const volatile __be16 int_port;		/* of INT-MD; 0: none */
const volatile __be16 report_port;	/* of postcards; 0: none */
const volatile __u32 checksum_length;	/* bytes */
const volatile __u32 out_interface;	/* index of the interface to collectors */
/* Whether a frame becomes all copies; and how many clones are needed, at least 1. */
const volatile bool all_copies;
const volatile bool has_answers; /* a collector has a reliable connection */
const volatile __u32 clones = 1;

/* An entry for each clone: the interface to collectors, and dart_copy(). */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_devmap_val);
} copies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next_copy SEC(".maps");

static __always_inline __u32 add_byte(__u32 crc, enum reporter_crc kind, __u8 byte)
{
	crc ^= byte;
	barrier_var(crc);	/* before Linux 6.4 the verifier knows no limit of an XOR */
	return crc >> 8 ^ key_tables[kind].after[0][crc & 0xff];
}

static __always_inline __u32 add_word(__u32 crc, enum reporter_crc kind, __u32 word)
{
	return crc_add_word(&key_tables[kind], crc, word);
}

/*
 * Keys are added by whole words, and then by the bytes after them.  The compiler must not compute
 * the index of the first of these from the length: the verifier would lose its limit.
 */
#define TELEMETRY_WORDS	(TELEMETRY_KEY_MAX / 4 * 4)	/* bytes */

static __always_inline __u32 crc_of(enum reporter_crc kind, const __u8 *key, __u32 length)
{
	__u32 crc = ~0, i;

#pragma clang loop unroll(disable)
	for (i = 0; i < TELEMETRY_WORDS && i + 4 <= length; i += 4)
		crc = add_word(crc, kind, *(const __u32 *)(key + i));
	barrier_var(i);
#pragma clang loop unroll(disable)
	for (; i < TELEMETRY_KEY_MAX && i < length; i++)
		crc = add_byte(crc, kind, key[i]);
	return ~crc;
}

/* Depends on the key only; the slot depends on the collector as well. */
struct place {
	__u64 checksum;	/* its 8, 16, 32 or 64 bits */
	__u32 share;
};

static __always_inline void place__find(struct place *place, const struct telemetry *telemetry)
{
	const __u32 length = telemetry->key_length;
	const __u8 *key = telemetry->key;
	__u32 first = ~0, second = ~0, share = ~0, i;

#pragma clang loop unroll(disable)
	for (i = 0; i < TELEMETRY_WORDS && i + 4 <= length; i += 4) {
		const __u32 word = *(const __u32 *)(key + i);

		share = add_word(share, REPORTER_CRC_SHARE, word);
		first = add_word(first, REPORTER_CRC_CHECKSUM_0, word);
		if (checksum_length == 8)
			second = add_word(second, REPORTER_CRC_CHECKSUM_1, word);
	}
	barrier_var(i);
#pragma clang loop unroll(disable)
	for (; i < TELEMETRY_KEY_MAX && i < length; i++) {
		share = add_byte(share, REPORTER_CRC_SHARE, key[i]);
		first = add_byte(first, REPORTER_CRC_CHECKSUM_0, key[i]);
		if (checksum_length == 8)
			second = add_byte(second, REPORTER_CRC_CHECKSUM_1, key[i]);
	}
	place->share = ~share % DART_STORE_SHARES;
	place->checksum = ~first;
	if (checksum_length == 8)
		place->checksum = place->checksum << 32 | ~second;
	else if (checksum_length == 2)
		place->checksum &= 0xffff;
	else if (checksum_length == 1)
		place->checksum &= 0xff;
	if (!place->checksum)
		place->checksum = 1;
}

static __always_inline __u64 slot__find(const struct telemetry *telemetry,
					__u32 copy, __u8 slots_log2)
{
	const enum reporter_crc kind = REPORTER_CRC_SLOT_0 + copy % DART_STORE_REDUNDANCY_MAX;

	return crc_of(kind, telemetry->key, telemetry->key_length) &
	       ((1ULL << slots_log2) - 1);
}

/*
 * Writes the payload: checksum and value.  The zeros up to a whole word are in the frame already.
 */
static __always_inline void write_slot(void *payload, __u64 checksum,
				       const struct telemetry *telemetry)
{
	__u32 *words = payload;

	switch (checksum_length) {
	case 1:
		*(__u8 *)payload = checksum;
		__builtin_memcpy(payload + 1, telemetry->value, REPORTER_VALUE);
		break;
	case 2:
		*(__be16 *)payload = bpf_htons(checksum);
		__builtin_memcpy(payload + 2, telemetry->value, REPORTER_VALUE);
		break;
	case 4:
		words[0] = bpf_htonl(checksum);
		__builtin_memcpy(words + 1, telemetry->value, REPORTER_VALUE);
		break;
	default:
		words[0] = bpf_htonl(checksum >> 32);
		words[1] = bpf_htonl(checksum);
		__builtin_memcpy(words + 2, telemetry->value, REPORTER_VALUE);
	}
}

/* The words of a report between its constant part and the ICRC. */
static __always_inline __u32 words_of_report(void)
{
	return checksum_length == 8 ? REPORTER_WORDS : REPORTER_WORDS - 1;
}

_Static_assert(REPORTER_WORDS % 2 == 0, "all words but the first and the last in pairs");

/* Writes the report into the frame, which already has its length. */
static __always_inline void write_frame(struct xdp_md *context, const struct reporter_collector *to,
					struct reporter_share share, __u32 share_number,
					const __u32 words[REPORTER_WORDS])
{
	__u32 crc = share.icrc ^ icrc_add(0, words[0]);
	__u32 length = words_of_report(), i;
	__u32 *rest;
	void *data;

	data = (void *)(long)context->data;
	if (data + REPORTER_CONSTANT + (length + 1) * 4 > (void *)(long)context->data_end)
		return;
	copy_constant(data, to);
	/* Over a reliable connection all reports have one port, which is in the constant part. */
	if (!to->is_reliable)
		*(__be16 *)(data + sizeof(struct ethhdr) + sizeof(struct iphdr)) =
			bpf_htons(DART_STORE_UDP_SOURCE_BASE + share_number);

	rest = data + REPORTER_CONSTANT;
	rest[0] = words[0];
#pragma clang loop unroll(disable)
	for (i = 1; i < REPORTER_WORDS - 1; i += 2) {
		rest[i] = words[i];
		rest[i + 1] = words[i + 1];
		crc = icrc_add_two(crc, words[i], words[i + 1]);
	}
	if (length == REPORTER_WORDS) {
		rest[i] = words[i];
		crc = icrc_add(crc, words[i]);
		i++;
	}
	rest[i] = ~crc;
}

/* The collector that gets the report of a key; no pointer is NULL. */
struct receiver {
	struct place place;
	struct reporter_share share;
	const struct reporter_collector *collector;
	const struct reporter_memory *memory;
	struct reporter_reports *sent;
	struct reporter_sequence *sequence; /* of a reliable connection */
};

static __always_inline bool receiver__find(struct receiver *receiver,
					   const struct telemetry *telemetry)
{
	union {
		__u64 word;
		struct reporter_share share;
	} row;
	const void *at;
	__u32 number;

	place__find(&receiver->place, telemetry);
	at = bpf_map_lookup_elem(&shares, &receiver->place.share);
	if (!at)
		return false;
	row.word = *(const volatile __u64 *)at;
	receiver->share = row.share;
	number = row.share.collector;
	receiver->collector = bpf_map_lookup_elem(&collectors, &number);
	receiver->sent = bpf_map_lookup_elem(&reporter_to, &number);
	receiver->sequence = bpf_map_lookup_elem(&sequences, &number);
	if (!receiver->collector || !receiver->sent || !receiver->sequence)
		return false;
	/* Whoever reports over it again has to make another queue pair. */
	if (receiver->collector->is_reliable && receiver->sequence->state & SEQUENCE_BROKEN)
		return false;
	/* One access: the index may change at any time. */
	number = *(const volatile __u32 *)&receiver->collector->current & 1;
	receiver->memory = &receiver->collector->memories[number];
	return true;
}

/* The word of the next report to @receiver that has its PSN. */
static __always_inline __u32 next_psn(const struct receiver *receiver)
{
	struct reporter_sequence *sequence = receiver->sequence;
	struct reporter_reports *sent = receiver->sent;
	__u64 reports = __sync_fetch_and_add(&sent->reports, 1), now;
	__u32 word;

	if (!receiver->collector->is_reliable)
		return (sent->first_psn + reports) & PSN_MASK;
	now = bpf_ktime_get_ns();
	bpf_spin_lock(&sequence->lock);
	word = take_psn(sequence, now);
	bpf_spin_unlock(&sequence->lock);
	return word;
}

/* Turns the frame into the report of one copy.  Returns false if the frame is unchanged. */
static __always_inline bool report(struct xdp_md *context, const struct telemetry *telemetry,
				   const struct receiver *receiver, __u32 copy,
				   struct reporter *row)
{
	const struct reporter_collector *to = receiver->collector;
	const struct reporter_memory *memory = receiver->memory;
	__u32 length = checksum_length + REPORTER_VALUE;
	__u32 words[REPORTER_WORDS] = { };
	__u64 address;

	if (!fit(context, REPORTER_CONSTANT + (words_of_report() + 1) * 4)) {
		row->cramped++;
		return false;
	}
	address = memory->base + slot__find(telemetry, copy, to->slots_log2 & 63) * length;
	words[0] = bpf_htonl(next_psn(receiver));
	words[1] = bpf_htonl(address >> 32);
	words[2] = bpf_htonl(address);
	words[3] = memory->rkey;
	words[4] = bpf_htonl(length);
	write_slot(words + 5, receiver->place.checksum, telemetry);
	write_frame(context, to, receiver->share, receiver->place.share, words);
	row->reports++;
	return true;
}

static __always_inline int telemetry_of(struct xdp_md *context, struct telemetry *telemetry)
{
	struct cursor cursor = cursor_of(context);

	return telemetry__read(&cursor, int_port, report_port, telemetry);
}

/* The frame leaves by the interface to collectors. */
static __always_inline int to_collectors(const struct xdp_md *context)
{
	if (out_interface == context->ingress_ifindex)
		return XDP_TX;
	return bpf_redirect(out_interface, 0);
}

SEC("xdp")
int dart_reporter(struct xdp_md *context)
{
	struct reporter *row = this_cpu();
	struct telemetry telemetry;
	struct receiver receiver;
	int outcome;
	__u32 copy;

	if (!row)
		return XDP_PASS;
	if (has_answers && receive_answer(context)) {
		row->answers++;
		return XDP_DROP;
	}
	outcome = telemetry_of(context, &telemetry);
	if (outcome != TELEMETRY_OK) {
		count_passed(row, outcome);
		return XDP_PASS;
	}
	if (!receiver__find(&receiver, &telemetry)) {
		row->unassigned++;
		return XDP_PASS;
	}
	if (all_copies)
		return bpf_redirect_map(&copies, 0, BPF_F_BROADCAST);

	copy = (__u64)bpf_get_prandom_u32() * receiver.memory->redundancy >> 32;
	if (!report(context, &telemetry, &receiver, copy, row))
		return XDP_PASS;
	return to_collectors(context);
}

/*
 * Runs on each clone of a frame.  Clones are identical, but the CPU that made them runs this on one
 * after the other, so this counts them.
 */
SEC("xdp/devmap")
int dart_copy(struct xdp_md *context)
{
	struct reporter *row = this_cpu();
	struct telemetry telemetry;
	struct receiver receiver;
	__u32 zero = 0, *next, copy;

	next = bpf_map_lookup_elem(&next_copy, &zero);
	if (!row || !next)
		return XDP_DROP;
	copy = *next;
	*next = (copy + 1) % clones;
	if (telemetry_of(context, &telemetry) != TELEMETRY_OK ||
	    !receiver__find(&receiver, &telemetry) || copy >= receiver.memory->redundancy ||
	    !report(context, &telemetry, &receiver, copy, row))
		return XDP_DROP;
	return XDP_PASS;
}

static __always_inline __u32 list_of(const struct telemetry *telemetry)
{
	return crc_of(REPORTER_CRC_SHARE, telemetry->key, APPEND_KEY) &
	       ((1U << (journal.lists_log2 & 31)) - 1);
}

/* Appends to a journal instead of reporting to stores. */
SEC("xdp")
int dart_appender(struct xdp_md *context)
{
	const struct reporter_share *share;
	struct reporter *row = this_cpu();
	struct append_entry entry;
	struct telemetry telemetry;
	int outcome;

	if (!row)
		return XDP_PASS;
	outcome = telemetry_of(context, &telemetry);
	if (outcome != TELEMETRY_OK) {
		count_passed(row, outcome);
		return XDP_PASS;
	}
	if (telemetry.key_length != APPEND_KEY || !lone_collector(&share)) {
		row->unassigned++;
		return XDP_PASS;
	}
	/* Any entry may be the one that makes a WRITE due. */
	if (!fit(context, append__frame_length())) {
		row->cramped++;
		return XDP_PASS;
	}
	append__make_entry(&telemetry, &entry);
	if (!append__add(&entry, list_of(&telemetry)) && !append__look()) {
		row->appended++;
		return XDP_DROP;
	}
	if (append__write(context)) {
		row->unassigned++;
		return XDP_DROP;
	}
	row->reports++;
	return to_collectors(context);
}

/*
 * For BPF_PROG_TEST_RUN, when no frames come any more: a frame of the right length that begins with
 * the number of a list becomes the WRITE of the entries that wait there; XDP_DROP if none do.
 */
SEC("xdp")
int dart_flush(struct xdp_md *context)
{
	const __u32 *number = (void *)(long)context->data;

	if ((void *)(number + 1) > (void *)(long)context->data_end)
		return XDP_ABORTED;
	if (!append__take_waiting(*number, 0) || append__write(context))
		return XDP_DROP;
	return XDP_TX;
}

/* ---- postcards */

static __always_inline __u32 row_of(const struct hop_postcard *postcard)
{
	return crc_of(REPORTER_CRC_CHECKSUM_1, (const void *)postcard->key,
		      postcard->key_length) &
	       ((1U << (translation.rows_log2 & 31)) - 1);
}

/* Turns the frame into the report of a path.  Returns false if it cannot be reported. */
static __always_inline bool report_path(struct xdp_md *context, const struct telemetry *path,
					enum translate_due due, struct reporter *row)
{
	struct receiver receiver;
	__u32 copy;

	if (!receiver__find(&receiver, path)) {
		row->unassigned++;
		return false;
	}
	copy = due == TRANSLATE_COMPLETE ?
		       (__u64)bpf_get_prandom_u32() * receiver.memory->redundancy >> 32 :
		       translate__number() % (receiver.memory->redundancy ?: 1);
	return report(context, path, &receiver, copy, row);
}

/* Gathers postcards instead of reporting them. */
SEC("xdp")
int dart_translator(struct xdp_md *context)
{
	struct cursor cursor = cursor_of(context);
	struct hop_postcard postcard = { };
	struct reporter *row = this_cpu();
	struct telemetry path = { };
	enum translate_due due;
	int outcome;

	if (!row)
		return XDP_PASS;
	if (has_answers && receive_answer(context)) {
		row->answers++;
		return XDP_DROP;
	}
	outcome = read_hop_postcard(&cursor, &postcard);
	if (outcome != TELEMETRY_OK) {
		count_passed(row, outcome);
		return XDP_PASS;
	}
	/* Any postcard may be the one that makes a report due. */
	if (!fit(context, REPORTER_CONSTANT + (words_of_report() + 1) * 4)) {
		row->cramped++;
		return XDP_PASS;
	}
	due = translate__add(&postcard, row_of(&postcard), &path);
	if (due == TRANSLATE_NOTHING)
		due = translate__look(&path);
	if (due == TRANSLATE_NOTHING) {
		row->gathered++;
		return XDP_DROP;
	}
	if (!report_path(context, &path, due, row))
		return XDP_DROP;
	return to_collectors(context);
}

/*
 * For BPF_PROG_TEST_RUN, when no postcards come any more: a frame that begins with the number of a
 * row becomes the report of its path; XDP_DROP if the row is empty, or its path was reported.
 */
SEC("xdp")
int dart_flush_row(struct xdp_md *context)
{
	const __u32 *at = (void *)(long)context->data;
	struct reporter *row = this_cpu();
	struct telemetry path = { };
	enum translate_due due;
	__u32 number;

	if (!row || (void *)(at + 1) > (void *)(long)context->data_end)
		return XDP_ABORTED;
	number = *at;
	due = translate__take(number, 0, &path);
	if (due == TRANSLATE_NOTHING || !report_path(context, &path, due, row))
		return XDP_DROP;
	return XDP_TX;
}

/* ---- sketches */

/* Adds up the strips of sketchers instead of reporting. */
SEC("xdp")
int dart_merger(struct xdp_md *context)
{
	struct cursor cursor = cursor_of(context);
	struct reporter *row = this_cpu();
	const struct reporter_share *share;
	enum merge_outcome outcome;
	__u32 sketcher = 0;
	int ret;

	if (!row)
		return XDP_PASS;
	ret = merge__read(&cursor, &sketcher);
	if (ret != TELEMETRY_OK) {
		count_passed(row, ret);
		return XDP_PASS;
	}
	if (!lone_collector(&share)) {
		row->unassigned++;
		return XDP_PASS;
	}
	/* Any strip may be the one that makes a WRITE due. */
	if (!fit(context, merge__frame_length())) {
		row->cramped++;
		return XDP_PASS;
	}
	outcome = merge__add(sketcher);
	if (outcome != MERGE_DUE && !merge__look()) {
		if (outcome == MERGE_STALE)
			row->stale++;
		else
			row->gathered++;
		return XDP_DROP;
	}
	if (merge__write(context)) {
		row->unassigned++;
		return XDP_DROP;
	}
	row->reports++;
	return to_collectors(context);
}

/*
 * For BPF_PROG_TEST_RUN, when no strips come any more: a frame of the right length that begins with
 * the number of a place becomes the WRITE of its sum; XDP_DROP if it was written already.
 */
SEC("xdp")
int dart_flush_sum(struct xdp_md *context)
{
	const __u32 *number = (void *)(long)context->data;

	if ((void *)(number + 1) > (void *)(long)context->data_end)
		return XDP_ABORTED;
	if (!merge__take_waiting(*number, 0) || merge__write(context))
		return XDP_DROP;
	return XDP_TX;
}

/* For the interface to collectors, if it is another one. */
SEC("xdp")
int dart_way_out(struct xdp_md *context)
{
	struct reporter *row = this_cpu();

	if (!has_answers || !row || !receive_answer(context))
		return XDP_PASS;
	row->answers++;
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "GPL";
