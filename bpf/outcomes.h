/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts the frames of each CPU by their outcomes: see struct reporter. */
#ifndef OUTCOMES_H
#define OUTCOMES_H

#include "telemetry.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* possible CPUs, set by the loader */
	__type(key, __u32);
	__type(value, struct reporter);
} reporter SEC(".maps");

static __always_inline struct reporter *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&reporter, &cpu);
}

/* The whole frame. */
static __always_inline struct cursor cursor_of(struct xdp_md *context)
{
	return (struct cursor){
		.at = (void *)(long)context->data,
		.end = (void *)(long)context->data_end,
		.begin = (void *)(long)context->data,
		.context = context,
	};
}

/* Counts a frame that passes unchanged; @outcome is not TELEMETRY_OK. */
static __always_inline void count_passed(struct reporter *row, int outcome)
{
	switch (outcome) {
	case TELEMETRY_TRUNCATED:
		row->truncated++;
		break;
	case TELEMETRY_MALFORMED:
		row->malformed++;
		break;
	case TELEMETRY_INCOMPLETE:
		row->incomplete++;
		break;
	case TELEMETRY_ANONYMOUS:
		row->anonymous++;
		break;
	case TELEMETRY_DAMAGED:
		row->damaged++;
		break;
	case TELEMETRY_TAGGED:
		row->tagged++;
		break;
	case TELEMETRY_ROOMLESS:
		row->unassigned++;
		break;
	default:
		row->others++;
	}
}

#endif /* OUTCOMES_H */
