// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints samples, errors and summaries as lines of JSON:
 *
 *   {"agent": "host:4792", "sequence": 1, "time_ns": ..., "clock_offset_ns": ...,
 *    "clock_uncertainty_ns": ..., "start_ns": ..., "landed_ns": ..., "end_ns": ...,
 *    "decode_ns": ..., "reads": 5, "bytes": 2048, "node": "host", "host_id": "...",
 *    "boot_id": "...", "instance": "...", "generation": 3, "online": "0-3",
 *    "nohz_full": "2-3",
 *    "entries": {"cpustat": {...}, ...}}
 *   {"agent": "host:4792", "error": "no answer for 10 s"}
 *   {"agent": "host:4792", "summary": {...}}
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/value.h>

#include "sink.h"

/*
 * Takes the reference to @line, which may be NULL.  Prints ASCII only: remote
 * text must not control the terminal.
 */
static int put(json_t *line)
{
	int err = 0;

	if (!line)
		return -ENOMEM;
	errno = 0;
	if (json_dumpf(line, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) ||
	    putchar('\n') == EOF || fflush(stdout))
		err = errno ? -errno : -EIO;
	json_decref(line);
	return err;
}

static void print_entries(const struct sample *sample)
{
	uint32_t i;

	for (i = 0; i < sample->entry_count; i++) {
		const struct sample_entry *entry = &sample->entries[i];
		const char *name = entry->entry->name;

		putchar(i ? ',' : '{');
		dart_text__print_json(name, strlen(name), stdout);
		putchar(':');
		dart_entry__print_json(entry->entry, entry->copies, stdout);
	}
	fputs(i ? "}" : "{}", stdout);
}

static void print_cpus(const char *name, const uint64_t *set, uint32_t cpus)
{
	printf(",\"%s\":\"", name);
	dart_cpus__print(set, cpus, stdout);
	putchar('"');
}

static void print_id(const char *name, const uint8_t id[16])
{
	int i;

	printf(",\"%s\":\"", name);
	for (i = 0; i < 16; i++)
		printf("%02x", id[i]);
	putchar('"');
}

/* Which host, boot and run of the agent the values are of. */
static void print_identity(const struct dart_table *table)
{
	fputs(",\"node\":", stdout);
	dart_text__print_json(table->node_name, sizeof(table->node_name),
			      stdout);
	print_id("host_id", table->host_id);
	print_id("boot_id", table->boot_id);
	printf(",\"instance\":\"%016llx\",\"generation\":%llu",
	       (unsigned long long)table->instance,
	       (unsigned long long)table->generation);
	print_cpus("online", table->online, table->cpus);
	print_cpus("nohz_full", table->nohz_full, table->cpus);
}

static int put_sample(struct sink *sink, const struct target_settings *target,
		      const struct sample *sample,
		      const struct summary *summary)
{
	const bool is_told = sample->clock_uncertainty_ns;
	json_t *head = json_pack(
		"{ss sI sI so so sI sI sI sI si sI}",
		"agent", target->name,
		"sequence", (json_int_t)sample->sequence,
		"time_ns", (json_int_t)sample->time_ns,
		"clock_offset_ns",
		is_told ? json_integer(sample->clock_offset_ns) : json_null(),
		"clock_uncertainty_ns",
		is_told ? json_integer(sample->clock_uncertainty_ns) :
			  json_null(),
		"start_ns", (json_int_t)sample->start_ns,
		"landed_ns", (json_int_t)sample->landed_ns,
		"end_ns", (json_int_t)sample->end_ns,
		"decode_ns", (json_int_t)(sample->end_ns - sample->landed_ns),
		"reads", sample->reads,
		"bytes", (json_int_t)sample->bytes);

	if (!head)
		return -ENOMEM;
	errno = 0;
	putchar('{');
	json_dumpf(head, stdout,
		   JSON_COMPACT | JSON_ENSURE_ASCII | JSON_EMBED);
	json_decref(head);
	print_identity(sample->table);
	fputs(",\"entries\":", stdout);
	print_entries(sample);
	fputs("}\n", stdout);
	if (fflush(stdout) || ferror(stdout))
		return errno ? -errno : -EIO;
	return 0;
}

static int put_lost(struct sink *sink, const struct target_settings *target,
		    const char *reason)
{
	return put(json_pack("{ss ss}", "agent", target->name, "error",
			     reason));
}

static json_t *latency_to_json(const struct latency *latency)
{
	return json_pack("{sI sI sI sI sI}",
		"min", (json_int_t)latency->min,
		"p50", (json_int_t)latency__percentile(latency, 50),
		"p90", (json_int_t)latency__percentile(latency, 90),
		"p99", (json_int_t)latency__percentile(latency, 99),
		"max", (json_int_t)latency->max);
}

static int put_summary(struct sink *sink, const struct target_settings *target,
		       const struct summary *summary)
{
	double scrapes = summary->scrapes ? summary->scrapes : 1;

	return put(json_pack(
		"{ss s{sI sI sI sI sf sf so so}}",
		"agent", target->name, "summary",
		"scrapes", (json_int_t)summary->scrapes,
		"failed", (json_int_t)summary->failed,
		"missed", (json_int_t)summary->missed,
		"discarded", (json_int_t)summary->discarded,
		"reads_per_scrape", summary->reads / scrapes,
		"bytes_per_scrape", summary->bytes / scrapes,
		"latency_ns", latency_to_json(&summary->decoded),
		"landed_ns", latency_to_json(&summary->landed)));
}

static void sink_json__free(struct sink *sink)
{
	free(sink);
}

static const struct sink_operations sink_json_operations = {
	.sample = put_sample,
	.lost = put_lost,
	.summary = put_summary,
	.free = sink_json__free,
};

struct sink *sink_json__new(void)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (sink)
		sink->operations = &sink_json_operations;
	return sink;
}
