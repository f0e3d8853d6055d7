// SPDX-License-Identifier: GPL-2.0-only
/* Answers questions about the counters of the host that the kernel keeps per CPU. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sum.h"

/* Addresses of variables, per CPU or single. */
static __u64 cpustat;
static __u64 vm_events;
static __u64 softnet;
static __u64 kstat_;
static __u64 irq_stats; /* 0: not on this architecture */
static __u64 run_queues;
static __u64 ticks;
static __u64 is_tick_stopped_when_idle;

/* Since Linux 7.1 the kernel keeps the idle time of a CPU here instead of in struct tick_sched. */
struct kernel_cpustat___idle {
	bool idle_elapse;
	seqcount_t idle_sleeptime_seq;
	__u64 idle_entrytime;
	__u64 idle_stealtime[2]; /* idle, and waiting for I/O */
};

/* Before Linux 6.8. */
struct tick_sched___bits {
	unsigned int idle_active : 1;
};

/* Since Linux 6.4. */
struct tick_sched___sequence {
	seqcount_t idle_sleeptime_seq;
};

#define IDLE_IS_ACTIVE (1 << 2) /* TS_FLAG_IDLE_ACTIVE */
#define NSEC_PER_USEC 1000

static __always_inline bool is_in_cpustat(void)
{
	return bpf_core_field_exists(struct kernel_cpustat___idle, idle_elapse);
}

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	int ret = answer__find_cpus()			     ?:
			  FIND(cpustat, "kernel_cpustat")    ?:
			  FIND(vm_events, "vm_event_states") ?:
			  FIND(softnet, "softnet_data")	     ?:
			  FIND(kstat_, "kstat")		     ?:
							       FIND(run_queues, "runqueues");

	if (!ret && !is_in_cpustat())
		ret = FIND(ticks, "tick_cpu_sched") ?:
			      FIND(is_tick_stopped_when_idle, "tick_nohz_active");
	if (ret)
		return ret;
	ret = FIND(irq_stats, "irq_stat");
	return ret == -ENOENT ? 0 : ret;
}

/* The idle time of a CPU up to its last idle period, and the start of that period. */
struct idle_time {
	__u64 total[2]; /* ns; idle, and waiting for I/O */
	__u64 steal[2]; /* ns of the time since @since */
	__u64 since;
	bool is_idle;
};

static __always_inline void read_tick(__u64 address, struct idle_time *time)
{
	const struct tick_sched___bits *bits = (const void *)address;
	const struct tick_sched *tick = (const void *)address;

	time->total[0] = BPF_CORE_READ(tick, idle_sleeptime);
	time->total[1] = BPF_CORE_READ(tick, iowait_sleeptime);
	time->since = BPF_CORE_READ(tick, idle_entrytime);
	if (bpf_core_field_exists(tick->flags))
		time->is_idle = BPF_CORE_READ(tick, flags) & IDLE_IS_ACTIVE;
	else
		time->is_idle = BPF_CORE_READ_BITFIELD_PROBED(bits, idle_active);
}

static __always_inline void read_cpustat(__u64 address, struct idle_time *time)
{
	const struct kernel_cpustat___idle *idle = (const void *)address;
	const struct kernel_cpustat *stat = (const void *)address;

	time->total[0] = BPF_CORE_READ(stat, cpustat[CPUTIME_IDLE]);
	time->total[1] = BPF_CORE_READ(stat, cpustat[CPUTIME_IOWAIT]);
	time->steal[0] = BPF_CORE_READ(idle, idle_stealtime[0]);
	time->steal[1] = BPF_CORE_READ(idle, idle_stealtime[1]);
	time->since = BPF_CORE_READ(idle, idle_entrytime);
	time->is_idle = BPF_CORE_READ(idle, idle_elapse);
}

static __always_inline __u32 sequence_of_tick(__u64 address)
{
	const struct tick_sched___sequence *tick = (const void *)address;

	return bpf_core_field_exists(tick->idle_sleeptime_seq) ?
		       BPF_CORE_READ(tick, idle_sleeptime_seq.sequence) :
		       0;
}

static __always_inline __u32 sequence_of_cpustat(__u64 address)
{
	const struct kernel_cpustat___idle *idle = (const void *)address;

	return BPF_CORE_READ(idle, idle_sleeptime_seq.sequence);
}

/* Returns false if the kernel wrote the values during the read. */
static __always_inline bool read_idle(__u32 cpu, struct idle_time *time)
{
	const __u64 address = answer__at_cpu(is_in_cpustat() ? cpustat : ticks, cpu);
	__u32 before, after;

	if (is_in_cpustat()) {
		before = sequence_of_cpustat(address);
		read_cpustat(address, time);
		after = sequence_of_cpustat(address);
	} else {
		before = sequence_of_tick(address);
		read_tick(address, time);
		after = sequence_of_tick(address);
	}
	return before == after && !(before & 1);
}

static __always_inline bool is_waiting_for_io(__u32 cpu)
{
	const struct rq *rq = (const void *)answer__at_cpu(run_queues, cpu);

	return BPF_CORE_READ(rq, nr_iowait.counter) > 0;
}

static __always_inline __u64 idle_until_now(const struct idle_time *time, __u32 kind, bool is_kind)
{
	const __u64 now = bpf_ktime_get_ns();
	__u64 total = time->total[kind];

	if (time->is_idle && is_kind && now > time->since + time->steal[kind])
		total += now - time->since - time->steal[kind];
	return total / NSEC_PER_USEC * NSEC_PER_USEC;
}

/* A copy of the variable of one CPU.  Not static, because clang would divide it. */
#define COPY_WORDS 32
__u64 copy[COPY_WORDS];

#define SET(item, value)                                                                   \
	(*(__u64 *)((char *)copy + bpf_core_field_offset(struct kernel_cpustat, cpustat) + \
		    sizeof(__u64) * bpf_core_enum_value(enum cpu_usage_stat, item)) = (value))

/* Attempts to read the idle time of a CPU. */
#define ATTEMPTS 4

/*
 * Like get_idle_time() and get_iowait_time() of fs/proc/stat.c, in microseconds: the kernel adds up
 * the idle time of a CPU only when the CPU stops idling.
 */
static __always_inline void set_idle(__u32 cpu)
{
	const bool is_waiting = is_waiting_for_io(cpu);
	struct idle_time time = {};
	int attempt;

	if (!is_online(cpu) || (!is_in_cpustat() && !READ(__u32, is_tick_stopped_when_idle)))
		return;
	for (attempt = 0; attempt < ATTEMPTS; attempt++)
		if (read_idle(cpu, &time))
			break;
	SET(CPUTIME_IDLE, idle_until_now(&time, 0, !is_waiting));
	SET(CPUTIME_IOWAIT, idle_until_now(&time, 1, is_waiting));
}

/* A few loads take fewer instructions than a call of bpf_probe_read_kernel(). */
static __always_inline long read_copy(__u64 address, __u32 size)
{
	__u32 i;

	if (size > sizeof(copy))
		return -EINVAL;
	if (!CAN_CAST)
		return bpf_probe_read_kernel(copy, size, (const void *)address);
#pragma unroll
	for (i = 0; i < COPY_WORDS; i++) {
		if (i * sizeof(*copy) >= size)
			break;
		copy[i] = READ(__u64, address + i * sizeof(*copy));
	}
	return 0;
}

/* Appends @length bytes of the copy, from byte @offset on. */
static __always_inline long append_copy(__u32 offset, __u32 length)
{
	__u64 *to;
	__u32 i;

	if (length > sizeof(copy))
		return -EINVAL;
	to = answer__append(length);
	if (!to)
		return -ENOSPC;
#pragma unroll
	for (i = 0; i < COPY_WORDS; i++) {
		if (i * sizeof(*to) >= length)
			break;
		to[i] = copy[(offset / sizeof(*copy) + i) & (COPY_WORDS - 1)];
	}
	return 0;
}

static long copy_cpustat(__u32 place, struct answer_copies *copies)
{
	const __u32 cpu = answer__cpu(place);

	if (read_copy(answer__at_cpu(cpustat, cpu), bpf_core_type_size(struct kernel_cpustat)))
		return 1;
	set_idle(cpu);
	if (append_copy(copies->address, copies->length))
		return 1;
	copies->done++;
	return 0;
}

/*
 * The time that a CPU without ticks (nohz_full) spends in its current task is missing until the
 * kernel adds it up.
 */
static __always_inline int answer_cpustat(struct gather_question *question)
{
	return answer__copies_by(question, copy_cpustat, 1, 0,
				 bpf_core_type_size(struct kernel_cpustat));
}

static __always_inline int host(struct gather_question *question)
{
	switch (question->source) {
	case DART_ZERO_SOURCE_CPUSTAT:
		return answer_cpustat(question);
	case DART_ZERO_SOURCE_VMSTAT:
		return answer__sums(question, vm_events, bpf_core_type_size(struct vm_event_state));
	case DART_ZERO_SOURCE_SOFTNET:
		return answer__copies(question, softnet, bpf_core_type_size(struct softnet_data));
	case DART_ZERO_SOURCE_KSTAT:
		return answer__copies(question, kstat_, bpf_core_type_size(struct kernel_stat));
	case DART_ZERO_SOURCE_IRQ_STAT:
		if (irq_stats)
			return answer__copies(question, irq_stats,
					      bpf_core_type_size(irq_cpustat_t));
		question->answer = GATHER_ABSENT;
		return 0;
	default:
		return -EINVAL;
	}
}

ANSWER_QUESTIONS(host)

char LICENSE[] SEC("license") = "GPL";
