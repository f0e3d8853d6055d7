/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PSNs of reports over reliable connections, and the answers of collectors: "Transports" in
 * <dart/store.h>.
 *
 * An XDP program cannot create probes, so reports take their place: one of 64 requests an
 * acknowledgement.  If that gets no answer, the next report has a PSN that was taken before; the
 * queue pair drops it, which counts as lost, and acknowledges it.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "elapsed.h"
#include "roce_write.h"

/* By collector. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct reporter_sequence);
} sequences SEC(".maps");

/* Collectors with reliable connections, by the source of their answers. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct reporter_source);
	__type(value, __u32);
} answers SEC(".maps");

#define PSN_MASK	0xffffff
#define PSN_ASKS	0x80000000	/* AckReq, in the word of the PSN */
/* The distance from a PSN from which on another PSN counts as earlier. */
#define PSN_FAR		0x7fffff

/* Reports without an answer are asked for after this time, again after the other one. */
#define ASK_QUIET_NS	(100 * 1000000ULL)
#define ASK_RETRY_NS	(20 * 1000000ULL)

#define SYNDROME_KIND	0xe0
#define SYNDROME_ACK	0
#define SYNDROME_NAK	0x60
#define SYNDROME_CODE	0x1f	/* 0: of a NAK that asks for a PSN again */

static __always_inline __u32 distance(__u32 a, __u32 b)
{
	return (a - b) & PSN_MASK;
}

/* Takes the next PSN; the lock is held.  Returns it with PSN_ASKS if the report asks. */
static __always_inline __u32 take_psn(struct reporter_sequence *sequence, __u64 now)
{
	__u32 psn = sequence->next;
	bool asks;

	if (sequence->state & SEQUENCE_ASKING &&
	    has_passed(sequence->asked_at, now, ASK_RETRY_NS)) {
		/* The last report is not lost: this report takes no PSN. */
		sequence->asked_at = now;
		sequence->lost++;
		if (sequence->state & SEQUENCE_FOLLOWED)
			return distance(sequence->expected, 1) | PSN_ASKS;
		sequence->state ^= SEQUENCE_FAR;
		psn = sequence->expected + (sequence->state & SEQUENCE_FAR ? PSN_FAR : 0);
		return distance(psn, 0) | PSN_ASKS;
	}
	if (!(sequence->state & (SEQUENCE_FOLLOWED | SEQUENCE_ASKING))) {
		sequence->expected = psn;
		sequence->top = psn;
	}
	asks = !(sequence->state & SEQUENCE_ASKING) &&
	       (!(sequence->state & SEQUENCE_FOLLOWED) ||
		has_passed(sequence->asked_at, now, ASK_QUIET_NS) ||
		distance(psn, sequence->asked_end) >= DART_STORE_PROBE_REPORTS - 1);
	sequence->next = distance(psn + 1, 0);
	/* Nothing was answered for all PSNs there are. */
	if (sequence->next == sequence->expected) {
		sequence->next = distance(psn + 2, 0);
		sequence->lost += PSN_MASK;
	} else if (distance(sequence->next, sequence->expected) >
		   distance(sequence->top, sequence->expected)) {
		sequence->top = sequence->next;
	}
	if (!asks)
		return psn;
	sequence->state |= SEQUENCE_ASKING;
	sequence->asked_at = now;
	sequence->asked_end = sequence->next;
	return psn | PSN_ASKS;
}

/* Takes an answer until it is known where the queue pair stands. */
static __always_inline void begin_at(struct reporter_sequence *sequence, __u32 expected,
				     bool is_acknowledged)
{
	const __u32 sent = distance(sequence->next, sequence->expected);

	if (is_acknowledged && distance(expected - 1, sequence->expected) < sent) {
		sequence->state = SEQUENCE_FOLLOWED;
	} else {
		/*
		 * It stands elsewhere.  After a NAK the next report has its PSN and asks, as only
		 * an acknowledgement is certain to count from there.
		 */
		sequence->lost += sent;
		sequence->next = expected;
		sequence->top = expected;
		sequence->state = is_acknowledged ? SEQUENCE_FOLLOWED : 0;
	}
	sequence->expected = expected;
	sequence->asked_end = expected;
}

static __always_inline void stop(struct reporter_sequence *sequence)
{
	sequence->lost += distance(sequence->next, sequence->expected);
	sequence->next = sequence->expected;
	sequence->asked_end = sequence->expected;
	sequence->stops++;
	sequence->state = SEQUENCE_FOLLOWED | SEQUENCE_REFUSED;
}

/* Takes an answer with a PSN that the queue pair can expect. */
static __always_inline void go_on(struct reporter_sequence *sequence, __u32 expected,
				  bool is_acknowledged)
{
	const __u32 span = distance(sequence->top, expected);
	bool was_asked, is_repeated;

	if (expected != sequence->expected)
		sequence->state &= ~SEQUENCE_REFUSED;
	is_repeated = sequence->state & SEQUENCE_REFUSED;
	sequence->expected = expected;
	/* Reports before the expected PSN were dropped: other reports had their PSNs. */
	if (distance(sequence->next, expected) > span) {
		sequence->lost -= distance(expected, sequence->next);
		sequence->next = expected;
		sequence->asked_end = expected;
		sequence->state &= ~SEQUENCE_ASKING;
	}
	if (!is_acknowledged) {
		if (!is_repeated && sequence->next != expected)
			stop(sequence);
		return;
	}
	was_asked = sequence->state & SEQUENCE_ASKING;
	sequence->state &= ~SEQUENCE_ASKING;
	if (was_asked && sequence->asked_end != expected &&
	    distance(sequence->asked_end, expected) <= span)
		stop(sequence);
}

/* Takes the answer with @psn and @syndrome; the lock is held. */
static __always_inline void take_answer(struct reporter_sequence *sequence, __u32 psn,
					__u8 syndrome)
{
	const bool is_acknowledged = (syndrome & SYNDROME_KIND) == SYNDROME_ACK;
	const bool is_followed = sequence->state & SEQUENCE_FOLLOWED;
	const __u32 expected = distance(psn + is_acknowledged, 0);

	if (sequence->state & SEQUENCE_BROKEN)
		return;
	if (is_followed ? distance(expected, sequence->expected) >
				  distance(sequence->top, sequence->expected) :
			  !(sequence->state & SEQUENCE_ASKING))
		return;
	if (is_acknowledged || syndrome == SYNDROME_NAK) {
		if (is_followed)
			go_on(sequence, expected, is_acknowledged);
		else
			begin_at(sequence, expected, is_acknowledged);
	} else if ((syndrome & SYNDROME_KIND) == SYNDROME_NAK) {
		sequence->lost += distance(sequence->next,
					   is_followed ? expected : sequence->expected);
		sequence->state = SEQUENCE_BROKEN;
	}
}

/* ---- frames */

/* An answer; its ICRC follows. */
struct answer_frame {
	struct ethhdr ethernet;
	struct iphdr ip;
	struct udphdr udp;
	__u8 opcode;
	__u8 rest_of_bth[3];
	__be32 queue_pair;
	__be32 psn;
	__u8 syndrome;
	__u8 messages[3];
	__u32 icrc;
} __attribute__((packed));

#define ANSWER_UDP_LENGTH	(sizeof(struct answer_frame) - sizeof(struct ethhdr) - \
				 sizeof(struct iphdr))
/* Words of the frame that the ICRC covers: all from the IP header on. */
#define ANSWER_WORDS		11

/* Bits that count as ones, in the order of memory. */
static __always_inline __u32 mask_of_word(__u32 number)
{
	switch (number) {
	case 0: /* type of service */
		return 0x0000ff00;
	case 2: /* TTL and checksum of the IP header */
		return 0xffff00ff;
	case 6: /* checksum of UDP */
		return 0xffff0000;
	case 8: /* byte 4 of the BTH */
		return 0x000000ff;
	default:
		return 0;
	}
}

static __always_inline bool has_right_icrc(const struct answer_frame *frame)
{
	const __u32 *words = (const void *)&frame->ip;
	__u32 crc = icrc_add(icrc_add(~0, ~0), ~0), i;

#pragma unroll
	for (i = 0; i < ANSWER_WORDS; i++)
		crc = icrc_add(crc, words[i] | mask_of_word(i));
	return frame->icrc == ~crc;
}

static __always_inline bool is_answer(const struct answer_frame *frame)
{
	return frame->ethernet.h_proto == bpf_htons(ETH_P_IP) && frame->ip.version == 4 &&
	       frame->ip.ihl == 5 &&
	       frame->ip.tot_len == bpf_htons(sizeof(*frame) - sizeof(struct ethhdr)) &&
	       !(frame->ip.frag_off & bpf_htons(0x3fff)) && frame->ip.protocol == IPPROTO_UDP &&
	       frame->udp.dest == bpf_htons(DART_STORE_UDP_PORT) &&
	       frame->udp.len == bpf_htons(ANSWER_UDP_LENGTH) &&
	       frame->opcode == DART_STORE_BTH_ACKNOWLEDGE;
}

/* Takes the frame and returns true if it is an answer to this reporter. */
static __always_inline bool receive_answer(struct xdp_md *context)
{
	const struct answer_frame *frame = (void *)(long)context->data;
	const struct reporter_collector *collector;
	struct reporter_source source = { };
	struct reporter_sequence *sequence;
	const __u32 *number;
	__u32 reporter;

	if ((void *)(frame + 1) != (void *)(long)context->data_end)
		return false;
	/* For the verifier, which learns nothing from the comparison before. */
	if ((void *)(frame + 1) > (void *)(long)context->data_end || !is_answer(frame))
		return false;
	source.address = frame->ip.saddr;
	source.queue_pair = frame->queue_pair & bpf_htonl(PSN_MASK);
	number = bpf_map_lookup_elem(&answers, &source);
	if (!number)
		return false;
	collector = bpf_map_lookup_elem(&collectors, number);
	sequence = bpf_map_lookup_elem(&sequences, number);
	if (!collector || !sequence)
		return false;
	__builtin_memcpy(&reporter,
			 collector->constant + sizeof(struct ethhdr) +
				 __builtin_offsetof(struct iphdr, saddr), sizeof(reporter));
	if (frame->ip.daddr != reporter || !has_right_icrc(frame))
		return false;
	bpf_spin_lock(&sequence->lock);
	take_answer(sequence, bpf_ntohl(frame->psn) & PSN_MASK, frame->syndrome);
	bpf_spin_unlock(&sequence->lock);
	return true;
}

#endif /* SEQUENCE_H */
