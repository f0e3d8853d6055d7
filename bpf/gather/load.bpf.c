// SPDX-License-Identifier: GPL-2.0-only
/* Answers questions about the load of the host, and about its CPUs. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "answer.h"

/* Addresses of variables, per CPU or single. */
static __u64 numa_nodes;
static __u64 frequencies; /* pointers to policies of cpufreq; 0: kernel without cpufreq */
static __u64 places;
static __u64 averages;
static __u64 online_count;
static __u64 timekeeper;
static __u64 random_state;

/* The topology of x86 CPUs: since Linux 6.7, and before. */
struct cpuinfo_topology___new {
	__u32 pkg_id;
	__u32 die_id;
	__u32 core_id;
};

struct cpuinfo_x86___new {
	struct cpuinfo_topology___new topo;
};

struct cpuinfo_x86___old {
	__u16 phys_proc_id;
	__u16 cpu_die_id;
	__u16 cpu_core_id;
};

/* The topology of CPUs of other architectures. */
struct cpu_topology___other {
	int package_id;
	int core_id;
};

/* Since Linux 6.13; before, an unnamed struct held the first two members. */
struct tk_data___named {
	seqcount_raw_spinlock_t seq;
	struct timekeeper timekeeper;
};

#define RANDOM_IS_READY 2 /* CRNG_READY */
#define HZ_PER_KILOHERTZ 1000ULL

static __always_inline bool is_x86(void)
{
	return bpf_core_type_exists(struct cpuinfo_x86___old);
}

static __always_inline int find_timekeeper(void)
{
	int ret = FIND(timekeeper, "tk_core");

	/* Since Linux 6.17 this timekeeper is the first of several. */
	if (ret == -ENOENT)
		ret = FIND(timekeeper, "timekeeper_data");
	if (bpf_core_field_exists(struct tk_data___named, timekeeper))
		timekeeper += bpf_core_field_offset(struct tk_data___named, timekeeper);
	else
		timekeeper += (bpf_core_type_size(seqcount_raw_spinlock_t) + 7) / 8 * 8;
	return ret;
}

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	int ret = answer__find_cpus()				  ?:
			  FIND(numa_nodes, "numa_node")		  ?:
			  FIND(averages, "avenrun")		  ?:
			  FIND(online_count, "__num_online_cpus") ?:
			  FIND(random_state, "crng_init")	  ?:
								    find_timekeeper();

	if (!ret)
		ret = is_x86() ? FIND(places, "cpu_info") : FIND(places, "cpu_topology");
	if (ret)
		return ret;
	ret = FIND(frequencies, "cpufreq_cpu_data");
	return ret == -ENOENT ? 0 : ret;
}

/* Like getboottime64(). */
static __always_inline __u64 boot_time(void)
{
	const struct timekeeper *keeper = (const void *)timekeeper;

	return BPF_CORE_READ(keeper, offs_real) - BPF_CORE_READ(keeper, offs_boot);
}

static __always_inline int answer_load(struct gather_question *question)
{
	const struct gather_exchange *in = answer__exchange();
	struct dart_zero_load *load = ANSWER_SAMPLE(question, struct dart_zero_load);

	if (!load || !in)
		return -ENOSPC;
	load->load1 = READ(unsigned long, averages);
	load->load5 = READ(unsigned long, averages + sizeof(unsigned long));
	load->load15 = READ(unsigned long, averages + 2 * sizeof(unsigned long));
	load->uptime = in->time;
	load->online_cpus = READ(__u32, online_count);
	load->boot_time = boot_time();
	load->random_ready = READ(__u32, random_state) >= RANDOM_IS_READY;
	return 0;
}

/* The kernel uses -1 for unknown topology; this shows 0, as sysfs does for an unknown node. */
static __always_inline __u64 place(__s32 number)
{
	return number < 0 ? 0 : number;
}

static __always_inline void set_place(__u32 cpu, struct dart_zero_cpu *values)
{
	const void *address;

	if (is_x86()) {
		const struct cpuinfo_x86___new *new_;
		const struct cpuinfo_x86___old *old;

		address = (const void *)answer__at_cpu(places, cpu);
		new_ = address;
		old = address;
		if (bpf_core_field_exists(new_->topo)) {
			values->package = place(BPF_CORE_READ(new_, topo.pkg_id));
			values->die = place(BPF_CORE_READ(new_, topo.die_id));
			values->core = place(BPF_CORE_READ(new_, topo.core_id));
		} else {
			values->package = place((__s16)BPF_CORE_READ(old, phys_proc_id));
			values->die = place((__s16)BPF_CORE_READ(old, cpu_die_id));
			values->core = place((__s16)BPF_CORE_READ(old, cpu_core_id));
		}
	} else {
		const struct cpu_topology___other *other;

		other = (const void *)(places + (__u64)cpu * bpf_core_type_size(
								     struct cpu_topology___other));
		values->package = place(BPF_CORE_READ(other, package_id));
		values->core = place(BPF_CORE_READ(other, core_id));
	}
}

/* The frequency that cpufreq last set. */
static __always_inline __u64 frequency(__u32 cpu)
{
	const struct cpufreq_policy *policy = NULL;

	if (frequencies)
		policy = (const void *)READ(__u64, answer__at_cpu(frequencies, cpu));
	return policy ? BPF_CORE_READ(policy, cur) * HZ_PER_KILOHERTZ : 0;
}

/* Answers of all CPUs. */
struct cpu_rows {
	struct gather_question *question;
	__s64 ret;
};

static long add_cpu(__u32 number, struct cpu_rows *rows)
{
	const __u32 cpu = answer__cpu(number);
	struct dart_zero_cpu *values;

	if (!is_online(cpu))
		return 0;
	values = ANSWER_ROW(rows->question, cpu, struct dart_zero_cpu);
	if (!values) {
		rows->ret = -ENOSPC;
		return 1;
	}
	set_place(cpu, values);
	values->node = place(READ(__s32, answer__at_cpu(numa_nodes, cpu)));
	values->frequency = frequency(cpu);
	return 0;
}

static __always_inline int load(struct gather_question *question)
{
	struct cpu_rows rows = { .question = question };

	switch (question->source) {
	case DART_ZERO_SOURCE_LOAD:
		return answer_load(question);
	case DART_ZERO_SOURCE_CPUS:
		bpf_loop(answer__cpu_count(), add_cpu, &rows, 0);
		return rows.ret;
	default:
		return -EINVAL;
	}
}

ANSWER_QUESTIONS(load)

char LICENSE[] SEC("license") = "GPL";
