// SPDX-License-Identifier: GPL-2.0-only
/* The table of sources. */
#include <string.h>

#include "sample_fields.h"
#include "source.h"

/* Names in /proc/net, by those of the enums: net/ipv4/proc.c, net/ipv6/proc.c. */
#define IP_ALIASES                                                             \
	{ "inpkts", "inreceives" },                                            \
	/* since Linux 6.8 both are counted */                                 \
	{ "outpkts", "outrequests" },                                          \
	{ "outpkts", "outtransmits" },                                         \
	{ "csumerrors", "incsumerrors" },                                      \
	{ "noectpkts", "innoectpkts" },                                        \
	{ "ect1pkts", "inect1pkts" },                                          \
	{ "ect0pkts", "inect0pkts" },                                          \
	{ "cepkts", "incepkts" },                                              \
	{ "reasm_overlaps", "reasmoverlaps" }

static const struct source_alias ip_aliases[] = {
	IP_ALIASES,
	{ "outforwdatagrams", "forwdatagrams" },
	{ }
};

static const struct source_alias ip6_aliases[] = {
	IP_ALIASES,
	{ }
};

static const struct source_alias tcp_udp_aliases[] = {
	{ "csumerrors", "incsumerrors" },
	{ }
};

static const struct source_alias icmp_aliases[] = {
	{ "csumerrors", "incsumerrors" },
	{ "ratelimitglobal", "outratelimitglobal" },
	{ "ratelimithost", "outratelimithost" },
	{ }
};

static const struct source_alias tcpext_aliases[] = {
	{ "timewaited", "tw" },
	{ "timewaitrecycled", "twrecycled" },
	{ "timewaitkilled", "twkilled" },
	{ "pawsactiverejected", "pawsactive" },
	{ "pawsestabrejected", "pawsestab" },
	{ "beyond_window", "beyondwindow" },
	{ "paws_old_ack", "pawsoldack" },
	{ "paws_tw_rejected", "pawstimewait" },
	{ "sackshifted", "tcpsackshifted" },
	{ "sackmerged", "tcpsackmerged" },
	{ "sackshiftfallback", "tcpsackshiftfallback" },
	{ "iprpfilter", "ipreversepathfilter" },
	{ "tcpspurious_rtx_hostqueues", "tcpspuriousrtxhostqueues" },
	{ }
};

/* Counted in sectors of 512 bytes; /proc/vmstat shows KiB. */
static const struct source_counter vmstat_known[] = {
	{ "pgpgin", "sectors", false },
	{ "pgpgout", "sectors", false },
	{ }
};

static const struct source_counter ip_known[] = {
	{ "inoctets", "bytes", false },
	{ "outoctets", "bytes", false },
	{ "inmcastoctets", "bytes", false },
	{ "outmcastoctets", "bytes", false },
	{ "inbcastoctets", "bytes", false },
	{ "outbcastoctets", "bytes", false },
	{ "reasmtimeout", "", false },
	{ }
};

static const struct source_counter tcp_known[] = {
	{ "rtoalgorithm", "", true },
	{ "rtomin", "ms", true },
	{ "rtomax", "ms", true },
	{ "maxconn", "connections", true },
	{ "currestab", "connections", true },
	{ "insegs", "segments", false },
	{ "outsegs", "segments", false },
	{ "retranssegs", "segments", false },
	{ "outrsts", "segments", false },
	{ "inerrs", "segments", false },
	{ "csumerrors", "segments", false },
	{ }
};

/* Counts by message type are kept elsewhere and not per CPU. */
static const struct source_counter icmp_known[] = {
	{ "inmsgs", "messages", false },
	{ "inerrors", "messages", false },
	{ "outmsgs", "messages", false },
	{ "outerrors", "messages", false },
	{ "csumerrors", "messages", false },
	{ "ratelimitglobal", "messages", false },
	{ "ratelimithost", "messages", false },
	{ }
};

static const struct source_counter netdev_known[] = {
	{ "bytes", "bytes", false },
	{ "rx_bytes", "bytes", false },
	{ "tx_bytes", "bytes", false },
	{ }
};

/* A struct around an array whose element 0 is unused. */
#define MIB(...) MIB_IN_HOST(ALL, __VA_ARGS__)

#define MIB_IN_HOST(in_host_, name_, what_, id_, prefix_, element_, unit_, ...) \
	{                                                                      \
		name_, what_ " of a network namespace", id_,                   \
		SOURCE_SELECTOR_NETNS,                                         \
		.in_host = SOURCE_IN_HOST_##in_host_,                          \
		.parts = { {                                                   \
			.member = "mibs",                                      \
			.unit = unit_,                                         \
			.elements = prefix_ element_,                          \
			.prefix = prefix_,                                     \
			.first = 1,                                            \
			__VA_ARGS__                                            \
		} },                                                           \
	}

/* An array for reading, writing, discarding and flushing. */
#define DISK_GROUPS(member_, unit_, ...)                                       \
	{                                                                      \
		.member = member_,                                             \
		.unit = unit_,                                                 \
		.elements = "STAT_READ",                                       \
		.prefix = "STAT_",                                             \
		.is_qualified = true,                                          \
		__VA_ARGS__                                                    \
	}

/* A member that some kernels lack. */
#define OPTIONAL(member_, unit_)                                               \
	{ .member = member_, .unit = unit_, .is_optional = true }

/*
 * With exact exposure each run of adjacent fields has its own memory region.  A
 * source with pointers, lists or locks between its counters, such as softnet,
 * costs a controller several READs per CPU; a source of contiguous counters
 * costs one.
 */
const struct source sources[] = {
	{
		"cpustat", "CPU time by state",
		DART_ZERO_SOURCE_CPUSTAT, SOURCE_SELECTOR_NONE,
		.lags = true,
		.lags_not_gathered = true,
		.rows = SOURCE_ROWS_CPU,
		.parts = { {
			.member = "cpustat",
			.unit = "ns",
			.elements = "CPUTIME_USER",
			.prefix = "CPUTIME_",
		} },
	},
	{
		"vmstat", "events of memory management",
		DART_ZERO_SOURCE_VMSTAT, SOURCE_SELECTOR_NONE,
		.parts = { {
			.member = "event",
			.unit = "events",
			.elements = "PGPGIN",
			.listed_in = "/proc/vmstat",
			.known = vmstat_known,
		} },
	},
	{
		"softnet", "packets that each CPU received",
		DART_ZERO_SOURCE_SOFTNET, SOURCE_SELECTOR_NONE,
		.rows = SOURCE_ROWS_CPU,
		.parts = {
			{ .member = "processed", .unit = "packets" },
			{ .member = "time_squeeze", .unit = "times" },
			OPTIONAL("received_rps", "packets"),
			OPTIONAL("dropped", "packets"),
			/* newer kernels: for two NUMA nodes */
			OPTIONAL("drop_counters.drops0", "packets"),
			OPTIONAL("drop_counters.drops1", "packets"),
		},
	},
	{
		"softirqs", "interrupts and softirqs",
		DART_ZERO_SOURCE_KSTAT, SOURCE_SELECTOR_NONE,
		.rows = SOURCE_ROWS_CPU,
		.parts = {
			{ .member = "irqs_sum", .unit = "interrupts" },
			{
				.member = "softirqs",
				.unit = "softirqs",
				.elements = "HI_SOFTIRQ",
				.suffix = "_SOFTIRQ",
			},
		},
	},
	{
		"irqs", "interrupts of each CPU by kind",
		DART_ZERO_SOURCE_IRQ_STAT, SOURCE_SELECTOR_NONE,
		.rows = SOURCE_ROWS_CPU,
		.parts = {
			{ .unit = "interrupts" },
			/* newer kernels */
			{
				.member = "counts",
				.unit = "interrupts",
				.is_optional = true,
				.elements = "IRQ_COUNT_NMI",
				.prefix = "IRQ_COUNT_",
			},
		},
	},
	MIB("snmp:ip", "IPv4 counters", DART_ZERO_SOURCE_IP,
	    "IPSTATS_MIB_", "INPKTS", "packets", .known = ip_known,
	    .aliases = ip_aliases),
	MIB("snmp:ip6", "IPv6 counters", DART_ZERO_SOURCE_IP6,
	    "IPSTATS_MIB_", "INPKTS", "packets", .known = ip_known,
	    .aliases = ip6_aliases),
	MIB("snmp:tcp", "TCP counters", DART_ZERO_SOURCE_TCP,
	    "TCP_MIB_", "RTOALGORITHM", "", .known = tcp_known,
	    .aliases = tcp_udp_aliases),
	/* Half of the bytes of a namespace, and few containers are asked for them. */
	MIB_IN_HOST(OWN, "snmp:tcpext", "extended TCP counters",
		    DART_ZERO_SOURCE_TCPEXT, "LINUX_MIB_", "SYNCOOKIESSENT", "",
		    .aliases = tcpext_aliases),
	MIB("snmp:udp", "UDP counters", DART_ZERO_SOURCE_UDP,
	    "UDP_MIB_", "INDATAGRAMS", "datagrams", .aliases = tcp_udp_aliases),
	MIB("snmp:udp6", "UDPv6 counters", DART_ZERO_SOURCE_UDP6,
	    "UDP_MIB_", "INDATAGRAMS", "datagrams", .aliases = tcp_udp_aliases),
	MIB("snmp:icmp", "ICMP counters", DART_ZERO_SOURCE_ICMP,
	    "ICMP_MIB_", "INMSGS", "messages", .known = icmp_known,
	    .aliases = icmp_aliases, .is_only_known = true),
	MIB("snmp:icmp6", "ICMPv6 counters", DART_ZERO_SOURCE_ICMP6,
	    "ICMP6_MIB_", "INMSGS", "messages", .known = icmp_known,
	    .aliases = icmp_aliases, .is_only_known = true),
	{
		"netdev:stats",
		"packets and bytes of a network device that counts by CPU",
		DART_ZERO_SOURCE_NETDEV, SOURCE_SELECTOR_NETDEV,
		.in_host = SOURCE_IN_HOST_ELSEWHERE,
		.parts = { { .unit = "packets", .known = netdev_known } },
	},
	{
		"netdev:core", "packets that the kernel dropped for a network device",
		DART_ZERO_SOURCE_NETDEV_CORE, SOURCE_SELECTOR_NETDEV,
		.in_host = SOURCE_IN_HOST_ELSEWHERE,
		.parts = { { .unit = "packets" } },
	},
	{
		"disk:stats", "requests, sectors and times of a disk",
		DART_ZERO_SOURCE_DISK, SOURCE_SELECTOR_DISK,
		.in_host = SOURCE_IN_HOST_ELSEWHERE,
		.parts = {
			DISK_GROUPS("nsecs", "ns"),
			DISK_GROUPS("sectors", "sectors"),
			DISK_GROUPS("ios", "requests"),
			DISK_GROUPS("merges", "requests"),
			{ .member = "io_ticks", .unit = "jiffies" },
			DISK_GROUPS("in_flight", "requests", .is_gauge = true),
		},
	},
	{
		"cgroup:cpu", "CPU time of a cgroup",
		DART_ZERO_SOURCE_CGROUP_CPU, SOURCE_SELECTOR_CGROUP,
		.lags = true,
		.parts = {
			{ .member = "cputime.stime", .unit = "ns" },
			{ .member = "cputime.utime", .unit = "ns" },
			{ .member = "cputime.sum_exec_runtime", .unit = "ns" },
			OPTIONAL("forceidle_sum", "ns"),
			OPTIONAL("ntime", "ns"),
		},
	},
	{
		"gathering", "cost of the gathering at this interval",
		DART_ZERO_SOURCE_GATHERING, SOURCE_SELECTOR_NONE,
		.fields = gathering_fields,
	},
	{
		"memory", "memory of the host",
		DART_ZERO_SOURCE_MEMORY, SOURCE_SELECTOR_NONE,
		.fields = memory_fields,
	},
	{
		"load", "load averages and uptime of the host",
		DART_ZERO_SOURCE_LOAD, SOURCE_SELECTOR_NONE,
		.fields = load_fields,
	},
	{
		"files", "open files, inodes, dentries and inotify watches",
		DART_ZERO_SOURCE_FILES, SOURCE_SELECTOR_NONE,
		.fields = files_fields,
	},
	{
		"clock", "synchronization of the clock",
		DART_ZERO_SOURCE_CLOCK, SOURCE_SELECTOR_NONE,
		.fields = clock_fields,
	},
	{
		"cpus", "place and frequency of each CPU",
		DART_ZERO_SOURCE_CPUS, SOURCE_SELECTOR_NONE,
		.rows = SOURCE_ROWS_CPU,
		.fields = cpus_fields,
	},
	{
		"perf", "hardware counters of each CPU",
		DART_ZERO_SOURCE_PERF, SOURCE_SELECTOR_NONE,
		.in_host = SOURCE_IN_HOST_ELSEWHERE,
		.rows = SOURCE_ROWS_CPU,
		.fields = perf_fields,
	},
	{
		"node:memory", "memory of each NUMA node",
		DART_ZERO_SOURCE_NODE_MEMORY, SOURCE_SELECTOR_NONE,
		.rows = SOURCE_ROWS_NODE,
		.fields = node_memory_fields,
	},
	{
		"node:zones", "zones of each NUMA node, and their watermarks",
		DART_ZERO_SOURCE_NODE_ZONES, SOURCE_SELECTOR_NONE,
		.rows = SOURCE_ROWS_NODE,
		.fields = node_zones_fields,
	},
	{
		"cgroup:memory", "memory of a cgroup and those below it",
		DART_ZERO_SOURCE_CGROUP_MEMORY, SOURCE_SELECTOR_CGROUP,
		.fields = cgroup_memory_fields,
	},
	{
		"cgroup:pids", "tasks of a cgroup and those below it",
		DART_ZERO_SOURCE_CGROUP_PIDS, SOURCE_SELECTOR_CGROUP,
		.fields = cgroup_pids_fields,
	},
	{
		"cgroup:bandwidth", "throttling of a cgroup by cpu.max",
		DART_ZERO_SOURCE_CGROUP_BANDWIDTH, SOURCE_SELECTOR_CGROUP,
		.fields = cgroup_bandwidth_fields,
	},
	{
		"cgroup:pressure", "time that tasks of a cgroup waited",
		DART_ZERO_SOURCE_CGROUP_PRESSURE, SOURCE_SELECTOR_CGROUP,
		.fields = cgroup_pressure_fields,
	},
	{
		"cgroup:io", "I/O of a cgroup and those below it",
		DART_ZERO_SOURCE_CGROUP_IO, SOURCE_SELECTOR_CGROUP,
		.fields = cgroup_io_fields,
	},
	{
		"cgroup:disks", "I/O of a cgroup and those below it on each disk",
		DART_ZERO_SOURCE_CGROUP_DISKS, SOURCE_SELECTOR_CGROUP,
		.in_host = SOURCE_IN_HOST_ELSEWHERE,
		.rows = SOURCE_ROWS_DEVICE,
		.fields = cgroup_disks_fields,
	},
	{
		"rdma:ports", "ports of the RDMA device that works on a network device",
		DART_ZERO_SOURCE_RDMA_PORTS, SOURCE_SELECTOR_NETDEV,
		.rows = SOURCE_ROWS_PORT,
		.fields = rdma_ports_fields,
	},
	{
		"processes", "processes by their state",
		DART_ZERO_SOURCE_PROCESSES, SOURCE_SELECTOR_NONE,
		.fields = processes_fields,
	},
	{
		"pressure", "time that tasks waited for a resource",
		DART_ZERO_SOURCE_PRESSURE, SOURCE_SELECTOR_NONE,
		.fields = pressure_fields,
	},
	{
		"tasks", "tasks and context switches of the host",
		DART_ZERO_SOURCE_TASKS, SOURCE_SELECTOR_NONE,
		.fields = tasks_fields,
	},
	{
		"swap", "swap space of the host, and what may be committed",
		DART_ZERO_SOURCE_SWAP, SOURCE_SELECTOR_NONE,
		.fields = swap_fields,
	},
	{
		"hugepages", "huge pages of the host",
		DART_ZERO_SOURCE_HUGEPAGES, SOURCE_SELECTOR_NONE,
		.fields = hugepages_fields,
	},
	{
		"netdev:link", "all counts of a network device, and its link",
		DART_ZERO_SOURCE_NETDEV_LINK, SOURCE_SELECTOR_NETDEV,
		.fields = netdev_link_fields,
	},
	{
		"sockets", "sockets and tracked connections of a network namespace",
		DART_ZERO_SOURCE_SOCKETS, SOURCE_SELECTOR_NETNS,
		.fields = sockets_fields,
	},
	{
		"sockets:host", "sockets of all network namespaces together",
		DART_ZERO_SOURCE_SOCKETS_HOST, SOURCE_SELECTOR_NONE,
		.fields = sockets_host_fields,
	},
	{
		"disk:io", "all columns of /proc/diskstats for a disk",
		DART_ZERO_SOURCE_DISK_IO, SOURCE_SELECTOR_DISK,
		.fields = disk_io_fields,
	},
	{
		"filesystem", "size and use of a mounted file system",
		DART_ZERO_SOURCE_FILESYSTEM, SOURCE_SELECTOR_FILESYSTEM,
		.in_host = SOURCE_IN_HOST_RARELY,
		.fields = filesystem_fields,
	},
	{ }
};

const struct source *source__find(const char *name)
{
	const struct source *source;

	for (source = sources; source->name; source++)
		if (!strcmp(source->name, name))
			return source;
	return NULL;
}

bool source__can_be_followed(const struct source *source)
{
	return source->selector != SOURCE_SELECTOR_NONE;
}

const char *source__row_field(const struct source *source)
{
	static const char *const names[] = {
		[SOURCE_ROWS_CPU] = "cpu",
		[SOURCE_ROWS_NODE] = "node",
		[SOURCE_ROWS_PORT] = "port",
		[SOURCE_ROWS_DEVICE] = "device",
	};

	return names[source->rows];
}
