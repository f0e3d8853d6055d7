/* SPDX-License-Identifier: GPL-2.0-only */
/* The sizes of huge pages, and the number of pages of each size. */
#ifndef HUGE_PAGES_H
#define HUGE_PAGES_H

#include "read.h"
#include "sample.h"

/* HUGE_MAX_HSTATE is less on any architecture. */
#define SIZES_MAX 16

/* Addresses. */
static __u64 sizes; /* struct hstate[]; 0: kernel without huge pages */
static __u64 size_count;
static __u64 default_size;

static __always_inline int find_sizes(void)
{
	return FIND(sizes, "hstates")			    ?:
		       FIND(size_count, "hugetlb_max_hstate") ?:
		       FIND(default_size, "default_hstate_idx");
}

static __always_inline const struct hstate *size_at(__u32 index)
{
	return (const void *)(sizes + index * bpf_core_type_size(struct hstate));
}

static long add_size(__u32 index, __u64 *pages)
{
	const struct hstate *size = size_at(index);

	if (index >= READ(__u32, size_count))
		return 1;
	*pages += BPF_CORE_READ(size, nr_huge_pages) << (BPF_CORE_READ(size, order) & 63);
	return 0;
}

/* Like hugetlb_total_pages(): in pages of the smallest size. */
static __always_inline __u64 huge_pages(void)
{
	__u64 pages = 0;

	/* On a kernel without these members the verifier must not see the loop. */
	if (bpf_core_field_exists(struct hstate, nr_huge_pages) && sizes)
		bpf_loop(SIZES_MAX, add_size, &pages, 0);
	return pages;
}

#endif /* HUGE_PAGES_H */
