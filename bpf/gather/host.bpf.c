// SPDX-License-Identifier: GPL-2.0-only
/* Answers questions about counters of the host that the kernel keeps per CPU. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "answer.h"

/* Addresses. */
static __u64 events;

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return answer__find_cpus() ?: FIND(events, "vm_event_states");
}

static __always_inline int host(struct gather_question *question)
{
	switch (question->source) {
	case DART_ZERO_SOURCE_VMSTAT:
		return answer__copies(question, events, bpf_core_type_size(struct vm_event_state));
	default:
		return -EINVAL;
	}
}

ANSWER_QUESTIONS(host)

char LICENSE[] SEC("license") = "GPL";
