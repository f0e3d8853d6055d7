// SPDX-License-Identifier: GPL-2.0-only
/* Samples of the host: its swap space, its huge pages, and what may be committed. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sample.h"

/* HUGE_MAX_HSTATE of any architecture is less. */
#define SIZES_MAX 16

/* Addresses. */
static __u64 swap_total;
static __u64 swap_free;
static __u64 memory_total;
static __u64 overcommit_ratio;
static __u64 overcommit_kbytes;
static __u64 sizes; /* struct hstate[]; 0: the kernel has no huge pages */
static __u64 size_count;
static __u64 default_size;
static __u32 page_shift;

static __always_inline int find_sizes(void)
{
	return FIND(sizes, "hstates")			    ?:
		       FIND(size_count, "hugetlb_max_hstate") ?:
		       FIND(default_size, "default_hstate_idx");
}

static __always_inline int find_swap(void)
{
	int ret = FIND(swap_total, "total_swap_pages")			   ?:
		  FIND(swap_free, "nr_swap_pages")			   ?:
		  FIND(memory_total, "_totalram_pages")			   ?:
		  FIND(overcommit_ratio, "sysctl_overcommit_ratio")	   ?:
		  FIND(overcommit_kbytes, "sysctl_overcommit_kbytes");

	if (ret)
		return ret;
	if (find_sizes())
		sizes = 0;
	return 0;
}

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	page_shift = setting->page_shift;
	return setting->source == SAMPLE_SWAP ? find_swap() : find_sizes();
}

static __always_inline const struct hstate *size_at(__u32 index)
{
	return (const void *)(sizes +
			      index * bpf_core_type_size(struct hstate));
}

static long add_size(__u32 index, __u64 *pages)
{
	const struct hstate *size = size_at(index);

	if (index >= READ(__u32, size_count))
		return 1;
	*pages += BPF_CORE_READ(size, nr_huge_pages)
		  << (BPF_CORE_READ(size, order) & 63);
	return 0;
}

/* hugetlb_total_pages(): in pages of the smallest size. */
static __always_inline __u64 huge_pages(void)
{
	__u64 pages = 0;

	/* Otherwise the verifier does not see the loop, whose members are not there. */
	if (bpf_core_field_exists(struct hstate, nr_huge_pages) && sizes)
		bpf_loop(SIZES_MAX, add_size, &pages, 0);
	return pages;
}

static __always_inline __u64 pages_at(__u64 address)
{
	long pages = READ(long, address);

	return pages < 0 ? 0 : pages;
}

/* vm_commit_limit(), in pages. */
static __always_inline __u64 commit_limit(void)
{
	__u64 allowed = READ(unsigned long, overcommit_kbytes);

	if (allowed)
		allowed >>= (page_shift - 10) & 63;
	else
		allowed = (pages_at(memory_total) - huge_pages()) *
			  READ(__u32, overcommit_ratio) / 100;
	return allowed + pages_at(swap_total);
}

SEC("raw_tp.w/dart_zero_sample")
int sample_swap(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_swap values;

	if (SAMPLE_OF(context)->source != SAMPLE_SWAP)
		return 0;
	values = (struct dart_zero_swap){
		.total = pages_at(swap_total) << page_shift,
		.free = pages_at(swap_free) << page_shift,
		.commit_limit = commit_limit() << page_shift,
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

SEC("raw_tp.w/dart_zero_sample")
int sample_hugepages(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_hugepages values;
	const struct hstate *size;

	if (SAMPLE_OF(context)->source != SAMPLE_HUGEPAGES)
		return 0;
	size = size_at(READ(__u32, default_size));
	values = (struct dart_zero_hugepages){
		.total = BPF_CORE_READ(size, nr_huge_pages),
		.free = BPF_CORE_READ(size, free_huge_pages),
		.reserved = BPF_CORE_READ(size, resv_huge_pages),
		.surplus = BPF_CORE_READ(size, surplus_huge_pages),
		.size = 1ULL << ((BPF_CORE_READ(size, order) + page_shift) &
				 63),
		.hugetlb = huge_pages() << page_shift,
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
