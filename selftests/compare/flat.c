// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots and scrapes as flat objects; sections of the whole machine. */
#include "flat.h"
#include "flat_sources.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Without idle and iowait: for a CPU with a stopped tick, /proc/stat adds the time
 * since then from another source (get_cpu_idle_time_us()), while the counter itself is
 * updated when the CPU wakes.
 */
static void flatten_proc_stat(json_t *flat, char *text)
{
	static const char *const fields[] = {
		"user", "nice", "system", NULL, NULL, "irq", "softirq", "steal",
		"guest", "guest_nice",
	};
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *next;
		unsigned long cpu;

		if (strncmp(line, "cpu", 3) || line[3] == ' ')
			continue;
		cpu = strtoul(line + 3, &next, 10);
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
			uint64_t ticks = strtoull(next, &next, 10);

			if (fields[i])
				flat__add(flat, ticks, "cpustat/%lu/%s", cpu, fields[i]);
		}
	}
}

/*
 * The events are the last part of the file; only nr_unstable, which the kernel no
 * longer uses, follows them.
 */
static void flatten_proc_vmstat(json_t *flat, char *text)
{
	bool is_event = false;
	char *line, *value;

	while ((line = strsep(&text, "\n"))) {
		value = strchr(line, ' ');
		is_event = is_event || !strncmp(line, "pgpgin ", 7);
		if (!value || !is_event || !strncmp(line, "nr_unstable ", 12))
			continue;
		flat__add(flat, strtoull(value, NULL, 10), "vmstat/sum/%.*s",
			  (int)(value - line), line);
	}
}

static void flatten_proc_softnet(json_t *flat, char *text)
{
	unsigned int column[13];
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *next = line;

		if (!*line)
			continue;
		for (int i = 0; i < 13; i++)
			column[i] = strtoul(next, &next, 16);
		flat__add(flat, column[0], "softnet/%u/processed", column[12]);
		flat__add(flat, column[1], "softnet/%u/dropped", column[12]);
		flat__add(flat, column[2], "softnet/%u/time_squeeze", column[12]);
		flat__add(flat, column[9], "softnet/%u/received_rps", column[12]);
	}
}

/* bpftool prints a value without BTF as bytes: ["0x01","0x00",...]. */
static uint64_t from_bytes(const json_t *bytes)
{
	uint64_t value = 0;

	for (size_t i = json_array_size(bytes); i-- > 0;)
		value = value << 8 | strtoul(json_string_value(json_array_get(bytes, i)), NULL, 16);
	return value;
}

static void flatten_map(json_t *flat, const char *entry, json_t *rows)
{
	json_t *row, *value;
	const char *name;
	size_t i;

	json_array_foreach(rows, i, row) {
		json_t *formatted = json_object_get(row, "formatted");
		json_t *fields = json_object_get(formatted, "value");

		if (!formatted)
			flat__add(flat, from_bytes(json_object_get(row, "value")),
			    "%s/%zu/value", entry, i);
		json_object_foreach(fields, name, value)
			flat__add(flat, json_integer_value(value), "%s/%zu/%s", entry, i, name);
	}
}

/* The output of a batch of bpftool, with a dump for each of @entries in their order. */
static void flatten_batch(json_t *flat, char *entries, const char *text)
{
	json_t *batch = json_loads(text, 0, NULL), *done;
	size_t i;

	json_array_foreach(batch, i, done) {
		json_t *output = json_object_get(done, "output");

		if (json_is_array(output) && entries)
			flatten_map(flat, strsep(&entries, " "), output);
	}
	json_decref(batch);
}

json_t *flat__from_snapshot(char *text)
{
	json_t *flat = json_object();
	char *section;

	/* No line of a section begins with the marker. */
	for (section = strstr(text, "== "); section;) {
		char *name = section + 3;
		char *next = strstr(name, "\n== ");
		char *body = strchr(name, '\n');

		if (!body)
			break;
		*body++ = '\0';
		if (next)
			*next++ = '\0';

		if (!strcmp(name, "/proc/stat"))
			flatten_proc_stat(flat, body);
		else if (!strcmp(name, "/proc/vmstat"))
			flatten_proc_vmstat(flat, body);
		else if (!strcmp(name, "/proc/net/softnet_stat"))
			flatten_proc_softnet(flat, body);
		else if (!strncmp(name, "bpftool ", 8))
			flatten_batch(flat, name + 8, body);
		else if (!strcmp(name, "agent context switches"))
			flat__add(flat, strtoull(body, NULL, 10), "agent/switches");
		else if (!strcmp(name, "agent cpu ns"))
			flat__add(flat, strtoull(body, NULL, 10), "agent/cpu_ns");
		else
			flat_sources__take(flat, name, body);
		section = next;
	}
	return flat;
}

/* In the units of /proc. */
static uint64_t converted(const char *entry, const char *field, uint64_t value)
{
	if (!strcmp(entry, "cpustat"))
		return value / (1000000000 / sysconf(_SC_CLK_TCK));
	/* counted in sectors of 512 bytes, shown in KiB */
	if (!strcmp(entry, "vmstat") && (!strcmp(field, "pgpgin") || !strcmp(field, "pgpgout")))
		return value / 2;
	if (!strncmp(entry, "cgroup:cpu", 10))
		return value / 1000;
	if (!strncmp(entry, "disk:stats", 10) && !strncmp(field, "nsecs.", 6))
		return value / 1000000;
	return value;
}

/* The name in /proc: "dropped" of softnet may be kept in several counters. */
static const char *proc_name(const char *field)
{
	return strncmp(field, "drops", 5) ? field : "dropped";
}

static void flatten_copies(json_t *flat, const char *entry, const json_t *copies)
{
	const json_t *copy;
	const char *field;
	json_t *value;
	size_t i;

	json_array_foreach(copies, i, copy) {
		json_object_foreach((json_t *)copy, field, value)
			flat__add(flat, converted(entry, field, json_integer_value(value)),
				  "%s/%zu/%s", entry, i, proc_name(field));
	}
}

static void flatten_sum(json_t *flat, const char *entry, json_t *sum)
{
	const char *field;
	json_t *value;

	json_object_foreach(sum, field, value)
		flat__add(flat, converted(entry, field, json_integer_value(value)), "%s/sum/%s",
			  entry, field);
}

json_t *flat__from_scrape(const json_t *scrape)
{
	json_t *entries = json_object_get(scrape, "entries");
	json_t *flat, *entry;
	const char *name;

	if (!entries)
		return NULL;

	flat = json_object();
	json_object_foreach(entries, name, entry) {
		flatten_copies(flat, name, json_object_get(entry, "cpus"));
		flatten_copies(flat, name, json_object_get(entry, "rows"));
		flatten_sum(flat, name, json_object_get(entry, "sum"));
	}
	return flat;
}
