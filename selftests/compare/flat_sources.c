// SPDX-License-Identifier: GPL-2.0-only
/* Sections of a snapshot that are of a namespace, device, disk, cgroup or interrupts. */
#include "flat_sources.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void flat__add(json_t *flat, uint64_t value, const char *format, ...)
{
	char name[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	value += json_integer_value(json_object_get(flat, name));
	json_object_set_new(flat, name, json_integer(value));
}

static void put_counter(json_t *flat, const char *entry, const char *netns,
			const char *name, uint64_t value)
{
	char lower[128];
	size_t i;

	for (i = 0; name[i] && i < sizeof(lower) - 1; i++)
		lower[i] = tolower((unsigned char)name[i]);
	lower[i] = '\0';
	flat__add(flat, value, "?snmp:%s@%s/sum/%s", entry, netns, lower);
}

/* Pairs of lines, names and values, that each begin with the family. */
static void take_lines(json_t *flat, const char *netns, char *text)
{
	static const char *const families[][2] = {
		{ "Ip:", "ip" }, { "IpExt:", "ip" }, { "Tcp:", "tcp" },
		{ "TcpExt:", "tcpext" }, { "Udp:", "udp" }, { "Icmp:", "icmp" },
	};
	char *names, *values, *family, *name, *value;

	while ((names = strsep(&text, "\n")) && (values = strsep(&text, "\n"))) {
		family = strsep(&names, " ");
		strsep(&values, " ");
		for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
			if (!family || strcmp(family, families[i][0]))
				continue;
			while ((name = strsep(&names, " ")) && (value = strsep(&values, " ")))
				put_counter(flat, families[i][1], netns, name,
					    strtoull(value, NULL, 10));
		}
	}
}

static void take_snmp6(json_t *flat, const char *netns, char *text)
{
	static const char *const families[][2] = {
		{ "Ip6", "ip6" }, { "Icmp6", "icmp6" }, { "Udp6", "udp6" },
	};
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *value = line + strcspn(line, " \t");

		if (!*value)
			continue;
		*value++ = '\0';
		for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
			size_t length = strlen(families[i][0]);

			if (!strncmp(line, families[i][0], length))
				put_counter(flat, families[i][1], netns, line + length,
					    strtoull(value, NULL, 10));
		}
	}
}

/* Sent bytes and packets of devices: a veth counts the received ones at its peer. */
static void take_dev(json_t *flat, const char *netns, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *device = line + strspn(line, " ");
		char *next = strchr(device, ':');
		uint64_t column[16];

		if (!next)
			continue;
		*next++ = '\0';
		for (int i = 0; i < 16; i++)
			column[i] = strtoull(next, &next, 10);
		flat__add(flat, column[8], "?netdev:stats@%s/%s/sum/tx_bytes", netns, device);
		flat__add(flat, column[9], "?netdev:stats@%s/%s/sum/tx_packets", netns, device);
		flat__add(flat, column[8], "?netdev:stats@%s/%s/sum/bytes", netns, device);
		flat__add(flat, column[9], "?netdev:stats@%s/%s/sum/packets", netns, device);
	}
}

static void take_cpu_stat(json_t *flat, const char *cgroup, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!strncmp(line, "usage_usec ", 11))
			flat__add(flat, strtoull(line + 11, NULL, 10),
			    "cgroup:cpu@%s/sum/sum_exec_runtime", cgroup);
		if (!strncmp(line, "nice_usec ", 10))
			flat__add(flat, strtoull(line + 10, NULL, 10),
			    "cgroup:cpu@%s/sum/ntime", cgroup);
	}
}

static void take_diskstats(json_t *flat, char *text)
{
	static const char *const fields[] = {
		"ios.read", "merges.read", "sectors.read", "nsecs.read",
		"ios.write", "merges.write", "sectors.write", "nsecs.write",
		NULL, NULL, NULL,
		"ios.discard", "merges.discard", "sectors.discard",
		"nsecs.discard",
		"ios.flush", "nsecs.flush",
	};
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char device[64];
		int length = 0;
		char *next;

		if (sscanf(line, "%*u %*u %63s%n", device, &length) != 1)
			continue;
		next = line + length;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
			uint64_t value = strtoull(next, &next, 10);

			if (fields[i])
				flat__add(flat, value, "?disk:stats@%s/sum/%s", device, fields[i]);
		}
	}
}

/* Rows "NAME: N N ... text" with a column for each CPU. */
static void take_rows(json_t *flat, char *text,
		      void (*take)(json_t *flat, const char *row, int cpu, uint64_t value))
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *row = line + strspn(line, " ");
		char *next = strchr(row, ':'), *end;

		if (!next)
			continue;
		*next++ = '\0';
		for (int cpu = 0;; cpu++) {
			uint64_t value = strtoull(next, &end, 10);

			if (end == next)
				break;
			next = end;
			take(flat, row, cpu, value);
		}
	}
}

static void take_softirq(json_t *flat, const char *row, int cpu, uint64_t value)
{
	char lower[32];
	size_t i;

	for (i = 0; row[i] && i < sizeof(lower) - 1; i++)
		lower[i] = tolower((unsigned char)row[i]);
	lower[i] = '\0';
	flat__add(flat, value, "softirqs/%d/%s", cpu, lower);
}

static void take_interrupt(json_t *flat, const char *row, int cpu, uint64_t value)
{
	/* older kernels, newer kernels */
	static const char *const rows[][3] = {
		{ "NMI", "__nmi_count", "nmi" },
		{ "LOC", "apic_timer_irqs", "apic_timer" },
		{ "IWI", "apic_irq_work_irqs", "irq_work" },
		{ "RES", "irq_resched_count", "reschedule" },
		{ "CAL", "irq_call_count", "call_function" },
		{ "TLB", "irq_tlb_count", "tlb" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(row, rows[i][0]))
			continue;
		flat__add(flat, value, "?irqs/%d/%s", cpu, rows[i][1]);
		flat__add(flat, value, "?irqs/%d/%s", cpu, rows[i][2]);
	}
}

void flat_sources__take(json_t *flat, const char *section, char *text)
{
	const char *of = strchr(section, ' ');

	of = of ? of + 1 : "";
	if (!strncmp(section, "snmp ", 5) || !strncmp(section, "netstat ", 8))
		take_lines(flat, of, text);
	else if (!strncmp(section, "snmp6 ", 6))
		take_snmp6(flat, of, text);
	else if (!strncmp(section, "dev ", 4))
		take_dev(flat, of, text);
	else if (!strncmp(section, "cpu.stat ", 9))
		take_cpu_stat(flat, of, text);
	else if (!strcmp(section, "diskstats"))
		take_diskstats(flat, text);
	else if (!strcmp(section, "softirqs"))
		take_rows(flat, text, take_softirq);
	else if (!strcmp(section, "interrupts"))
		take_rows(flat, text, take_interrupt);
}
