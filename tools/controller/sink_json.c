// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints samples, errors and summaries as lines of JSON:
 *
 *   {"agent": "host:4792", "sequence": 1, "start_ns": ..., "end_ns": ...,
 *    "landed_ns": ..., "decode_ns": ..., "reads": 5, "bytes": 2048,
 *    "generation": 3, "entries": {"cpustat": {...}, ...}}
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

static int put_sample(struct sink *sink, const struct target_settings *target,
		      const struct sample *sample,
		      const struct summary *summary)
{
	json_t *head = json_pack(
		"{ss sI sI sI sI sI si sI sI}",
		"agent", target->name,
		"sequence", (json_int_t)sample->sequence,
		"start_ns", (json_int_t)sample->start_ns,
		"landed_ns", (json_int_t)sample->landed_ns,
		"end_ns", (json_int_t)sample->end_ns,
		"decode_ns", (json_int_t)(sample->end_ns - sample->landed_ns),
		"reads", sample->reads,
		"bytes", (json_int_t)sample->bytes,
		"generation", (json_int_t)sample->table->generation);

	if (!head)
		return -ENOMEM;
	errno = 0;
	putchar('{');
	json_dumpf(head, stdout,
		   JSON_COMPACT | JSON_ENSURE_ASCII | JSON_EMBED);
	json_decref(head);
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
		"{ss s{sI sI sI sf sf so so}}",
		"agent", target->name, "summary",
		"scrapes", (json_int_t)summary->scrapes,
		"failed", (json_int_t)summary->failed,
		"missed", (json_int_t)summary->missed,
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
