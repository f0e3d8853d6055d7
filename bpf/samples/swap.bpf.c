// SPDX-License-Identifier: GPL-2.0-only
/* Samples the swap space of the host, and the limit of committed memory. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "huge_pages.h"
#include "sample.h"

/* Addresses. */
static __u64 swap_total;
static __u64 swap_free;
static __u64 memory_total;
static __u64 overcommit_ratio;
static __u64 overcommit_kbytes;
static __u32 page_shift;

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	int ret = FIND(swap_total, "total_swap_pages")			    ?:
			  FIND(swap_free, "nr_swap_pages")		    ?:
			  FIND(memory_total, "_totalram_pages")		    ?:
			  FIND(overcommit_ratio, "sysctl_overcommit_ratio") ?:
			  FIND(overcommit_kbytes, "sysctl_overcommit_kbytes");

	if (ret)
		return ret;
	page_shift = setting->page_shift;
	/* The kernel was built without huge pages. */
	if (find_sizes())
		sizes = 0;
	return 0;
}

static __always_inline __u64 pages_at(__u64 address)
{
	long pages = READ(long, address);

	return pages < 0 ? 0 : pages;
}

/* Like vm_commit_limit(), in pages. */
static __always_inline __u64 commit_limit(void)
{
	__u64 allowed = READ(unsigned long, overcommit_kbytes);

	if (allowed)
		allowed >>= (page_shift - 10) & 63;
	else
		allowed = (pages_at(memory_total) - huge_pages()) * READ(__u32, overcommit_ratio) /
			  100;
	return allowed + pages_at(swap_total);
}

static __always_inline enum dart_zero_sample_answer take_swap(struct dart_zero_swap *values)
{
	*values = (struct dart_zero_swap){
		.total = pages_at(swap_total) << page_shift,
		.free = pages_at(swap_free) << page_shift,
		.commit_limit = commit_limit() << page_shift,
	};
	return DART_ZERO_ANSWER_VALUES;
}

HOST_SAMPLE(DART_ZERO_SOURCE_SWAP, swap)

char LICENSE[] SEC("license") = "GPL";
