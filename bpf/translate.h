/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gathers postcards of hops: see <dart/postcard.h>.  The postcards of a path wait in a row of a
 * map until the path is complete, or its row is needed, or a time has passed: then the postcard
 * that makes the report due becomes this report.  A frame becomes one report only: a path that is
 * complete when the postcard already has to report the former path of its row is reported when the
 * next postcard of its flow comes, or by its age.
 */
#ifndef TRANSLATE_H
#define TRANSLATE_H

#include <dart/postcard.h>

#include "elapsed.h"
#include "telemetry.h"

/* Words of a key with the zeros after it. */
#define TRANSLATE_KEY_WORDS	((TELEMETRY_KEY_MAX + 3) / 4)

/* Rows whose age a postcard looks at. */
#define TRANSLATE_LOOKS		8

_Static_assert(TRANSLATE_KEY_WORDS * 4 == sizeof(((struct reporter_row *)0)->key),
	       "a row has room for any key of the program");

const volatile struct reporter_translation translation;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct reporter_row);
} rows SEC(".maps");

__u32 incomplete_paths;	/* that were reported */
__u32 translate_hand;	/* the row that is looked at next */

enum translate_due {
	TRANSLATE_NOTHING,
	TRANSLATE_COMPLETE,
	TRANSLATE_INCOMPLETE,
};

struct hop_postcard {
	__u32 key[TRANSLATE_KEY_WORDS];	/* zeros follow it */
	__u32 key_length;
	__u32 hop;
	__u32 hops;
	__be32 value;
};

struct hop_postcard_header {
	__u8 version;
	__u8 key_length;
	__u8 hop;
	__u8 hops;
	__be32 value;
};

static __always_inline int read_hop_postcard(struct cursor *cursor, struct hop_postcard *postcard)
{
	const struct hop_postcard_header *header;
	struct datagram datagram;
	struct telemetry unused;
	__u32 length;
	int ret;

	ret = read_datagram(cursor, translation.port, translation.port, &unused, &datagram);
	if (ret)
		return ret;
	header = cursor->at;
	if (is_cut(cursor, sizeof(*header)))
		return TELEMETRY_TRUNCATED;
	length = header->key_length;
	if (header->version != DART_POSTCARD_VERSION || !length || length > DART_STORE_KEY_MAX ||
	    datagram.room != sizeof(*header) + length || header->hops > DART_POSTCARD_HOPS_MAX ||
	    header->hop >= header->hops || header->value == bpf_htonl(DART_POSTCARD_UNKNOWN) ||
	    header->value == bpf_htonl(DART_POSTCARD_NO_HOP))
		return TELEMETRY_MALFORMED;
	if (length > TELEMETRY_KEY_MAX || header->hops > REPORTER_HOPS)
		return TELEMETRY_ROOMLESS;
	postcard->key_length = length;
	postcard->hop = header->hop;
	postcard->hops = header->hops;
	postcard->value = header->value;
	/* The verifier must see the bounds: before Linux 6.4, not by a comparison with 0. */
	barrier_var(length);
	length = ((length - 1) & 63) + 1;
	if (length > TELEMETRY_KEY_MAX ||
	    bpf_xdp_load_bytes(cursor->context, (const void *)(header + 1) - cursor->begin,
			       postcard->key, length))
		return TELEMETRY_TRUNCATED;
	return TELEMETRY_OK;
}

static __always_inline bool row__is_complete(const struct reporter_row *row)
{
	__u32 known = 0, i;

#pragma unroll
	for (i = 0; i < REPORTER_HOPS; i++)
		known += row->values[i] != DART_POSTCARD_UNKNOWN;
	return known == row->hops;
}

/* Has another key, or a path that contradicts the postcard? */
static __always_inline bool row__differs(const struct reporter_row *row,
					 const struct hop_postcard *postcard)
{
	__u32 differs = (row->key_length ^ postcard->key_length) | (row->hops ^ postcard->hops), i;

#pragma unroll
	for (i = 0; i < TRANSLATE_KEY_WORDS; i++)
		differs |= row->key[i] ^ postcard->key[i];
#pragma unroll
	for (i = 0; i < REPORTER_HOPS; i++)
		if (i == postcard->hop && row->values[i] != DART_POSTCARD_UNKNOWN)
			differs |= row->values[i] ^ postcard->value;
	return differs;
}

static __always_inline void row__begin(struct reporter_row *row,
				       const struct hop_postcard *postcard, __u64 now)
{
	__u32 i;

	row->key_length = postcard->key_length;
	row->hops = postcard->hops;
	row->is_reported = false;
	row->since = now;
#pragma unroll
	for (i = 0; i < TRANSLATE_KEY_WORDS; i++)
		row->key[i] = postcard->key[i];
#pragma unroll
	for (i = 0; i < REPORTER_HOPS; i++)
		row->values[i] = DART_POSTCARD_UNKNOWN;
}

/* Copies the path of a row, unless it was reported. */
static __always_inline enum translate_due row__report(struct reporter_row *row,
						      struct telemetry *path)
{
	__u32 *key = (void *)path->key, i;

	if (row->is_reported)
		return TRANSLATE_NOTHING;
	row->is_reported = true;
	path->key_length = row->key_length;
#pragma unroll
	for (i = 0; i < TRANSLATE_KEY_WORDS; i++)
		key[i] = row->key[i];
#pragma unroll
	for (i = 0; i < REPORTER_HOPS; i++)
		path->value[i] = i < row->hops ? row->values[i] : bpf_htonl(DART_POSTCARD_NO_HOP);
	return row__is_complete(row) ? TRANSLATE_COMPLETE : TRANSLATE_INCOMPLETE;
}

/* Adds a postcard to row @number.  Says which report of @path is due. */
static __always_inline enum translate_due translate__add(const struct hop_postcard *postcard,
							 __u32 number, struct telemetry *path)
{
	struct reporter_row *row = bpf_map_lookup_elem(&rows, &number);
	enum translate_due due = TRANSLATE_NOTHING;
	__u64 now = bpf_ktime_get_coarse_ns();
	__u32 i;

	if (!row)
		return TRANSLATE_NOTHING;
	bpf_spin_lock(&row->lock);
	if (row->key_length &&
	    (row__differs(row, postcard) || has_passed(row->since, now, translation.age_ns))) {
		due = row__report(row, path);
		row->key_length = 0;
	}
	if (!row->key_length)
		row__begin(row, postcard, now);
#pragma unroll
	for (i = 0; i < REPORTER_HOPS; i++)
		if (i == postcard->hop)
			row->values[i] = postcard->value;
	if (due == TRANSLATE_NOTHING && row__is_complete(row))
		due = row__report(row, path);
	bpf_spin_unlock(&row->lock);
	return due;
}

/* Frees a row that has waited for @age ns.  Says which report of @path is due. */
static __always_inline enum translate_due translate__take(__u32 number, __u64 age,
							  struct telemetry *path)
{
	struct reporter_row *row = bpf_map_lookup_elem(&rows, &number);
	enum translate_due due = TRANSLATE_NOTHING;
	__u64 now = bpf_ktime_get_coarse_ns();

	/* Another CPU may change it: the lock is only for rows whose time has passed. */
	if (!row || !row->key_length || !has_passed(row->since, now, age))
		return TRANSLATE_NOTHING;
	bpf_spin_lock(&row->lock);
	if (row->key_length && has_passed(row->since, now, age)) {
		due = row__report(row, path);
		row->key_length = 0;
	}
	bpf_spin_unlock(&row->lock);
	return due;
}

/*
 * Looks at some rows, at all of them in turn, so that a postcard of any flow reports a path that
 * has waited.
 */
static __always_inline enum translate_due translate__look(struct telemetry *path)
{
	__u32 mask = (1U << (translation.rows_log2 & 31)) - 1, number, i;
	enum translate_due due = TRANSLATE_NOTHING;

	number = __sync_fetch_and_add(&translate_hand, TRANSLATE_LOOKS);
#pragma clang loop unroll(disable)
	for (i = 0; i < TRANSLATE_LOOKS; i++) {
		due = translate__take((number + i) & mask, translation.age_ns, path);
		if (due != TRANSLATE_NOTHING)
			break;
	}
	return due;
}

/* The number of an incomplete path, which chooses its slot. */
static __always_inline __u32 translate__number(void)
{
	return __sync_fetch_and_add(&incomplete_paths, 1);
}

#endif /* TRANSLATE_H */
