// SPDX-License-Identifier: GPL-2.0-only
/* Samples the huge pages of the host. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "huge_pages.h"
#include "sample.h"

static __u32 page_shift;

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	page_shift = setting->page_shift;
	return find_sizes();
}

static __always_inline enum dart_zero_sample_answer
take_hugepages(struct dart_zero_hugepages *values)
{
	const struct hstate *size;

	size = size_at(READ(__u32, default_size));
	*values = (struct dart_zero_hugepages){
		.total = BPF_CORE_READ(size, nr_huge_pages),
		.free = BPF_CORE_READ(size, free_huge_pages),
		.reserved = BPF_CORE_READ(size, resv_huge_pages),
		.surplus = BPF_CORE_READ(size, surplus_huge_pages),
		.size = 1ULL << ((BPF_CORE_READ(size, order) + page_shift) & 63),
		.hugetlb = huge_pages() << page_shift,
	};
	return DART_ZERO_ANSWER_VALUES;
}

HOST_SAMPLE(DART_ZERO_SOURCE_HUGEPAGES, hugepages)

char LICENSE[] SEC("license") = "GPL";
