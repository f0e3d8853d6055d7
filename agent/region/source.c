// SPDX-License-Identifier: GPL-2.0-only
/* The table of sources. */
#include "source.h"

#include <stddef.h>
#include <string.h>

#include <linux/dart_zero_samples.h>

/* Names in /proc/net for names in the enums: net/ipv4/proc.c, net/ipv6/proc.c. */
#define IP_ALIASES                                                             \
	{ "inpkts", "inreceives" },                                            \
	/* since Linux 6.8 the kernel counts both */                                 \
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

static const struct source_alias ip6_aliases[] = { IP_ALIASES, {} };

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

/* The kernel counts sectors of 512 bytes; /proc/vmstat shows KiB. */
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

/* The kernel keeps counts by message type elsewhere, and not per CPU. */
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

/* A struct that contains an array, whose element 0 is not used. */
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

/* An array with an element for each of reading, writing, discarding and flushing. */
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

/* A field of @sample, a struct. */
#define FIELD(sample, place, name_, unit_, kind_, is_signed_)                  \
	{                                                                      \
		.name = name_, .unit = unit_,                                  \
		.offset = offsetof(sample, place),                             \
		.width = sizeof(((sample *)NULL)->place),                      \
		.count = 1, .kind = DART_CONTROL_FIELD_##kind_,                \
		.is_signed = is_signed_,                                       \
	}

static const struct dart_field *gathering_fields(void)
{
	static const struct dart_field fields[] = {
#define COUNTER(member, unit)                                                  \
	FIELD(struct dart_zero_gathering, member, #member, unit, COUNTER, false)
#define GAUGE(member, unit)                                                    \
	FIELD(struct dart_zero_gathering, member, #member, unit, GAUGE, false)
		COUNTER(passes, "passes"),
		COUNTER(missed, "passes"),
		COUNTER(records, "records"),
		COUNTER(time_ns, "ns"),
		GAUGE(longest_ns, "ns"),
		COUNTER(cgroup_visits, "visits"),
		COUNTER(stale, "records"),
		COUNTER(unreadable, "records"),
		COUNTER(rested, "records"),
		{ }
	};

	return fields;
}

/* A function for each sample, in which the name of the struct can be short. */
#define DART_ZERO_SAMPLE(source, number, name, ...)                            \
	static const struct dart_field *name##_fields(void)                    \
	{                                                                      \
		typedef struct dart_zero_##name sample;                        \
		static const struct dart_field fields[] = {
#define DART_ZERO_FIELD(type, place, name, unit, kind)                         \
	FIELD(sample, place, name, unit, kind,                                 \
	      DART_CONTROL_FIELD_##kind == DART_CONTROL_FIELD_GAUGE &&         \
		      (type)-1 < (type)1),
#define DART_ZERO_SAMPLE_END                                                   \
			{ }                                                    \
		};                                                             \
		return fields;                                                 \
	}
#include <linux/dart_zero_samples.def>

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
			/* newer kernels: a counter for each of two NUMA nodes */
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
			/* another layout of newer kernels */
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
	/* These are half of the bytes of a namespace, and few users want them for containers. */
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
#define DART_ZERO_SAMPLE(source, number, name, entry, taker, selector_, rows_, \
			 in_host_, description)                                \
	{                                                                      \
		entry, description, source, SOURCE_SELECTOR_##selector_,       \
		.in_host = SOURCE_IN_HOST_##in_host_,                          \
		.rows = SOURCE_ROWS_##rows_,                                   \
		.fields = name##_fields,                                       \
	},
#include <linux/dart_zero_samples.def>
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
