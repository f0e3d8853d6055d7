/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Appends to a journal: see <dart/journal.h>.  An entry is the time in ns since 1970 and the key of
 * an IPv4 flow, as in schemas/path-event.yaml, then as much of the path as there is room for, and
 * zeros.  Entries gather in a map of lists until a batch is full, or one of its entries has waited
 * for DART_JOURNAL_FLUSH_MS: then a frame with telemetry becomes the WRITE of this batch.
 */
#ifndef APPEND_H
#define APPEND_H

#include <dart/store.h>

#include "elapsed.h"
#include "flow_key.h"
#include "roce_write.h"

#define APPEND_KEY	13		/* bytes: an IPv4 flow */
#define APPEND_FLUSH_NS	(DART_JOURNAL_FLUSH_MS * 1000000ULL)
/* Sequences begin with 1 again after the highest one. */
#define APPEND_SEQUENCES	0xffffffffULL

const volatile struct reporter_journal journal;
const volatile __u32 journal_capacity;	/* entries of a full batch */
const volatile __u64 journal_start;
const volatile __u64 tai_ahead;		/* ns from UTC to TAI, as this kernel counts it */

struct append_entry {
	__be64 time;
	__u8 key[APPEND_KEY];
	__be32 path[REPORTER_HOPS];
	__u8 zeros[DART_JOURNAL_ENTRY_MAX - 8 - APPEND_KEY - REPORTER_VALUE];
} __attribute__((packed, aligned(8)));

_Static_assert(sizeof(struct append_entry) == DART_JOURNAL_ENTRY_MAX, "the longest entry");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* lists of the journal, set by the loader */
	__type(key, __u32);
	__type(value, struct reporter_list);
} lists SEC(".maps");

/* The batch that a frame of this CPU is about to become. */
struct append_taken {
	__u32 list;
	__u32 place;
	__u32 hand;	/* the list that is looked at next */
	__u32 reserved;
	__u8 bytes[DART_JOURNAL_BATCH_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct append_taken);
} taken_batch SEC(".maps");

static __always_inline struct append_taken *append__taken(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&taken_batch, &zero);
}

/* Bytes of the WRITE of a batch. */
static __always_inline __u32 append__frame_length(void)
{
	return sealed_frame_length(1U << (journal.batch_log2 & 31));
}

static __always_inline void append__make_entry(const struct telemetry *telemetry,
					       struct append_entry *entry)
{
	__u8 *bytes = (void *)entry;
	__u32 i;

	*entry = (struct append_entry){ };
	entry->time = bpf_cpu_to_be64(bpf_ktime_get_tai_ns() - tai_ahead);
	__builtin_memcpy(entry->key, telemetry->key, APPEND_KEY);
	__builtin_memcpy(entry->path, telemetry->value, REPORTER_VALUE);
	/* The loader accepts no entries that are shorter than time and key. */
#pragma unroll
	for (i = 8 + APPEND_KEY; i < 8 + APPEND_KEY + REPORTER_VALUE; i++)
		if (i >= journal.entry_length)
			bytes[i] = 0;
}

/* Copies the batch of @list, whose lock is held; a full one makes room for the next. */
static __always_inline void append__take(struct reporter_list *list, __u32 number, bool is_full,
					 struct append_taken *taken)
{
	__u64 *from = (void *)list->bytes, *to = (void *)taken->bytes;
	__u32 words = 1U << (journal.batch_log2 & 31) >> 3, i;
	__u64 start = journal_start + list->batches / APPEND_SEQUENCES;
	__u32 sequence = 1 + list->batches % APPEND_SEQUENCES;

	taken->list = number;
	taken->place = (sequence - 1) & ((1U << (journal.batches_log2 & 31)) - 1);
#pragma clang loop unroll(disable)
	for (i = 0; i < DART_JOURNAL_BATCH_MAX / 8; i++) {
		if (i >= words)
			break;
		to[i] = from[i];
		if (is_full)
			from[i] = 0;
	}
	*(__be32 *)(taken->bytes + DART_JOURNAL_SEQUENCE) = bpf_htonl(sequence);
	*(__be32 *)(taken->bytes + DART_JOURNAL_START) = bpf_htonl(start >> 16);
	*(__be16 *)(taken->bytes + DART_JOURNAL_START + 4) = bpf_htons(start);
	taken->bytes[DART_JOURNAL_COUNT] = list->count;
	taken->bytes[DART_JOURNAL_ENTRY_LENGTH] = journal.entry_length;
	if (is_full) {
		list->batches++;
		list->count = 0;
	}
	list->written = list->count;
}

/* Returns 1 if the entry filled its batch, or another one there has waited: the batch is taken. */
__noinline int append__add(const struct append_entry *entry, __u32 number)
{
	struct reporter_list *list = bpf_map_lookup_elem(&lists, &number);
	struct append_taken *taken = append__taken();
	__u64 now = bpf_ktime_get_coarse_ns();
	const __u64 *from = (const void *)entry;
	__u64 *to;
	__u32 at, i;
	int is_due = 0;
	bool is_full;

	if (!entry || !list || !taken)
		return 0;
	bpf_spin_lock(&list->lock);
	at = DART_JOURNAL_ENTRIES + list->count * journal.entry_length;
	if (at <= DART_JOURNAL_BATCH_MAX) {
		/* All 64 bytes: zeros follow the entry, in place of the next entry or the rest. */
		to = (void *)(list->bytes + at);
#pragma unroll
		for (i = 0; i < sizeof(*entry) / 8; i++)
			to[i] = from[i];
		if (list->count == list->written)
			list->since = now;
		list->count++;
		is_full = list->count >= journal_capacity;
		is_due = is_full || has_passed(list->since, now, APPEND_FLUSH_NS);
		if (is_due)
			append__take(list, number, is_full, taken);
	}
	bpf_spin_unlock(&list->lock);
	return is_due;
}

/* Returns 1 if the list has entries that have waited for @age ns: their batch is taken. */
__noinline int append__take_waiting(__u32 number, __u64 age)
{
	struct reporter_list *list = bpf_map_lookup_elem(&lists, &number);
	struct append_taken *taken = append__taken();
	__u64 now = bpf_ktime_get_coarse_ns();
	int is_due;

	if (!list || !taken)
		return 0;
	/* Another CPU may change them: the lock is only for lists that are due. */
	if (list->count == list->written || !has_passed(list->since, now, age))
		return 0;
	bpf_spin_lock(&list->lock);
	is_due = list->count != list->written && has_passed(list->since, now, age);
	if (is_due)
		append__take(list, number, false, taken);
	bpf_spin_unlock(&list->lock);
	return is_due;
}

/* Looks at the lists in turn, so that a frame of any list flushes the ones that have waited. */
static __always_inline int append__look(void)
{
	struct append_taken *taken = append__taken();

	if (!taken)
		return 0;
	taken->hand = (taken->hand + 1) & ((1U << (journal.lists_log2 & 31)) - 1);
	return append__take_waiting(taken->hand, APPEND_FLUSH_NS);
}

/*
 * Writes the taken batch into the frame, which has the length of the WRITE.  Returns 0, or 1
 * without a collector: readers of the journal miss the batch then.
 */
__noinline int append__write(struct xdp_md *context)
{
	const __u32 length = 1U << (journal.batch_log2 & 31);
	const struct append_taken *taken = append__taken();
	struct sealed_write write = { .length = length };

	if (!taken)
		return 1;
	write.number = taken->list;
	write.offset = (((__u64)taken->list << (journal.batches_log2 & 31)) + taken->place) *
		       length;
	return write_sealed(context, &write, (const void *)taken->bytes, DART_JOURNAL_BATCH_MAX);
}

#endif /* APPEND_H */
