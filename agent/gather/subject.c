// SPDX-License-Identifier: GPL-2.0-only
/* The sources that dartd gathers without the module: a line for each. */
#include <bpf/btf.h>
#include <errno.h>
#include <stddef.h>

#include <bpf/libbpf.h>

#include "agent/region/sample_programs.h"
#include "gather.skel.h"
#include "subject.h"

/* Programs by their object in bpf/gather/ and bpf/samples/. */
enum program {
	PROGRAM_NONE = -1,
	PROGRAM_HOST,
	PROGRAM_LOAD,
	PROGRAM_MEMORY,
	PROGRAM_PROCESSES,
	PROGRAM_CGROUP_CPU,
	PROGRAM_NAMESPACES,
	PROGRAM_SOCKETS,
	PROGRAM_DISKS,
#define BY_MODULE(name)
#define BY_PROGRAM(name) PROGRAM_##name,
#define BY_BOTH(name)
#define DART_ZERO_SAMPLE(source, number, name, entry, taker, ...) taker(name)
#include <linux/dart_zero_samples.def>
#undef BY_MODULE
#undef BY_PROGRAM
#undef BY_BOTH
	PROGRAMS,
};

#define OF_GATHERER(name_)                                       \
	{                                                        \
		.name = #name_, .object = name_##_bpf__elf_bytes \
	}
#define OF_SAMPLE(name_, source_)                 \
	{                                         \
		.name = #name_, .source = source_ \
	}

_Static_assert(PROGRAMS <= GATHER_PROGRAMS, "more programs than a run can go on with");

static const struct gather_program programs[PROGRAMS] = {
	[PROGRAM_HOST] = OF_GATHERER(host),
	[PROGRAM_LOAD] = OF_GATHERER(load),
	[PROGRAM_MEMORY] = OF_GATHERER(memory),
	[PROGRAM_PROCESSES] = OF_GATHERER(processes),
	[PROGRAM_CGROUP_CPU] = OF_GATHERER(cgroup_cpu),
	[PROGRAM_NAMESPACES] = OF_GATHERER(namespaces),
	[PROGRAM_SOCKETS] = OF_GATHERER(sockets),
	[PROGRAM_DISKS] = OF_GATHERER(disks),
#define BY_MODULE(name, source)
#define BY_PROGRAM(name, source) [PROGRAM_##name] = OF_SAMPLE(name, source),
#define BY_BOTH(name, source)
#define DART_ZERO_SAMPLE(source, number, name, entry, taker, ...) taker(name, source)
#include <linux/dart_zero_samples.def>
#undef BY_MODULE
#undef BY_PROGRAM
#undef BY_BOTH
};

#define COUNTERS(source_, object_, name_, program_)                                      \
	{                                                                                \
		.source = DART_ZERO_SOURCE_##source_, .object = GATHER_OBJECT_##object_, \
		.name = name_, .program = program_                                       \
	}

/* Samples that dartd takes without a program: see own_sample.h. */
#define BY_ITSELF(source_, name_, object_, rows_, kind_)                                 \
	{                                                                                \
		.source = DART_ZERO_SOURCE_##source_, .object = GATHER_OBJECT_##object_, \
		.name = "dart_zero_" #name_, .length = sizeof(struct dart_zero_##name_), \
		.is_sample = true, .rows = SOURCE_ROWS_##rows_, .program = PROGRAM_NONE, \
		.own = &(kind_)                                                          \
	}

/* Samples by programs of the gatherer. */
#define SAMPLE(source_, name_, object_, rows_, program_)                                 \
	{                                                                                \
		.source = DART_ZERO_SOURCE_##source_, .object = GATHER_OBJECT_##object_, \
		.name = "dart_zero_" #name_, .length = sizeof(struct dart_zero_##name_), \
		.is_sample = true, .rows = SOURCE_ROWS_##rows_, .program = program_      \
	}

static struct subject subjects[] = {
	COUNTERS(CPUSTAT, NONE, "kernel_cpustat", PROGRAM_HOST),
	COUNTERS(SOFTNET, NONE, "softnet_data", PROGRAM_HOST),
	COUNTERS(KSTAT, NONE, "kstat", PROGRAM_HOST),
#ifdef __x86_64__
	/* On other processors the variable only has a mask of pending softirqs. */
	COUNTERS(IRQ_STAT, NONE, "irq_stat", PROGRAM_HOST),
#endif
	COUNTERS(CGROUP_CPU, CGROUP, "cgroup_base_stat", PROGRAM_CGROUP_CPU),
	COUNTERS(DISK, DISK, "disk_stats", PROGRAM_DISKS),
	COUNTERS(IP, NETNS, "ipstats_mib", PROGRAM_NAMESPACES),
	COUNTERS(IP6, NETNS, "ipstats_mib", PROGRAM_NAMESPACES),
	COUNTERS(TCP, NETNS, "tcp_mib", PROGRAM_NAMESPACES),
	COUNTERS(TCPEXT, NETNS, "linux_mib", PROGRAM_NAMESPACES),
	COUNTERS(UDP, NETNS, "udp_mib", PROGRAM_NAMESPACES),
	COUNTERS(UDP6, NETNS, "udp_mib", PROGRAM_NAMESPACES),
	COUNTERS(ICMP, NETNS, "icmp_mib", PROGRAM_NAMESPACES),
	COUNTERS(ICMP6, NETNS, "icmpv6_mib", PROGRAM_NAMESPACES),
	/* Its name and length depend on the device: see subject__of_statistics(). */
	COUNTERS(NETDEV, NETDEV, "pcpu_sw_netstats", PROGRAM_NAMESPACES),
	COUNTERS(NETDEV_CORE, NETDEV, "net_device_core_stats", PROGRAM_NAMESPACES),
	COUNTERS(VMSTAT, NONE, "vm_event_states", PROGRAM_HOST),
	{ .source = DART_ZERO_SOURCE_GATHERING,
	  .name = "dart_zero_gathering",
	  .length = sizeof(struct dart_zero_gathering),
	  .is_sample = true,
	  .program = PROGRAM_NONE },
	SAMPLE(LOAD, load, NONE, NONE, PROGRAM_LOAD),
	SAMPLE(CPUS, cpu, NONE, CPU, PROGRAM_LOAD),
	SAMPLE(PROCESSES, processes, NONE, NONE, PROGRAM_PROCESSES),
	SAMPLE(SOCKETS, sockets, NETNS, NONE, PROGRAM_SOCKETS),
	SAMPLE(DISK_IO, disk_io, DISK, NONE, PROGRAM_DISKS),
	SAMPLE(MEMORY, memory, NONE, NONE, PROGRAM_MEMORY),
	SAMPLE(NODE_MEMORY, node_memory, NONE, NODE, PROGRAM_MEMORY),
	SAMPLE(NODE_ZONES, node_zones, NONE, NODE, PROGRAM_MEMORY),
	BY_ITSELF(NETDEV_LINK, netdev_link, NETDEV, NONE, link_sample),
	BY_ITSELF(FILESYSTEM, filesystem, FILESYSTEM, NONE, filesystem_sample),
	BY_ITSELF(PERF, perf, NONE, CPU, perf_sample),
	BY_ITSELF(RDMA_PORTS, rdma_port, NETDEV, PORT, rdma_sample),
#define BY_MODULE(...)
#define BY_PROGRAM(source_, name_, selector_, rows_)  \
	{ .source = source_,                          \
	  .object = GATHER_OBJECT_##selector_,        \
	  .name = "dart_zero_" #name_,                \
	  .length = sizeof(struct dart_zero_##name_), \
	  .is_sample = true,                          \
	  .rows = SOURCE_ROWS_##rows_,                \
	  .program = PROGRAM_##name_ },
#define BY_BOTH(...)
#define DART_ZERO_SAMPLE(source, number, name, entry, taker, selector, rows, ...) \
	taker(source, name, selector, rows)
#include <linux/dart_zero_samples.def>
};

#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

/* Greater than any source. */
#define SOURCES_MAX 256

/* By source, because each pass looks up each record. */
static const struct subject *subject_of[SOURCES_MAX];

static struct subject statistics_subjects[] = {
	[GATHER_STATISTICS_LSTATS] = COUNTERS(NETDEV, NETDEV, "pcpu_lstats", PROGRAM_NAMESPACES),
	[GATHER_STATISTICS_TSTATS] =
		COUNTERS(NETDEV, NETDEV, "pcpu_sw_netstats", PROGRAM_NAMESPACES),
	[GATHER_STATISTICS_DSTATS] = COUNTERS(NETDEV, NETDEV, "pcpu_dstats", PROGRAM_NAMESPACES),
};

/* Bytes of a per-CPU variable of the kernel, or of a struct; 0: the kernel lacks it. */
static uint32_t length_of(const struct btf *types, const char *name)
{
	const struct btf_type *type;
	int64_t size;
	int id = btf__find_by_name_kind(types, name, BTF_KIND_VAR);

	if (id >= 0) {
		type = btf__type_by_id(types, id);
		size = btf__resolve_size(types, type->type);
	} else {
		id = btf__find_by_name_kind(types, name, BTF_KIND_STRUCT);
		size = id < 0 ? 0 : btf__resolve_size(types, id);
	}
	return size < 0 ? 0 : size;
}

int subjects__open(struct dart_error *error)
{
	struct btf *types = btf__load_vmlinux_btf();
	size_t i;

	for (i = 0; i < SUBJECTS; i++)
		subject_of[subjects[i].source] = &subjects[i];
	/* The lengths stay 0: without BTF no program can be loaded either. */
	if (!types && errno == ESRCH)
		return 0;
	if (!types)
		return dart_error__system(error, errno, "cannot read the kernel's types");
	for (i = 0; i < SUBJECTS; i++)
		if (!subjects[i].is_sample)
			subjects[i].length = length_of(types, subjects[i].name);
	for (i = GATHER_STATISTICS_LSTATS; i <= GATHER_STATISTICS_DSTATS; i++)
		statistics_subjects[i].length = length_of(types, statistics_subjects[i].name);
	btf__free(types);
	return 0;
}

const struct subject *subject__find(enum dart_zero_source source)
{
	return (uint32_t)source < SOURCES_MAX ? subject_of[source] : NULL;
}

const struct subject *subject__of_statistics(enum gather_statistics statistics)
{
	return &statistics_subjects[statistics];
}

int subject__program_count(void)
{
	return PROGRAMS;
}

const struct gather_program *subject__program(int index)
{
	return &programs[index];
}

const void *gather_program__object(const struct gather_program *program, size_t *size)
{
	return program->object ? program->object(size) :
				 sample_programs__object(program->source)(size);
}
