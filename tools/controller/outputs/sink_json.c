// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints samples, errors and summaries as lines of JSON:
 *
 *   {"agent": "host:4792", "up": 1, "dart_up": 1, "sequence": 1, "time_ns": ...,
 *    "clock_offset_ns": ..., "clock_uncertainty_ns": ..., "start_ns": ..., "landed_ns": ...,
 *    "end_ns": ..., "decode_ns": ..., "reads": 5, "bytes": 2048, "labels": {"rack": "a7"},
 *    "node": "host", "host_id": "...", "boot_id": "...", "instance": "...", "generation": 3,
 *    "online": "0-3", "nohz_full": "2-3", "entries": {"cpustat": {...}, ...}}
 *   {"agent": "host:4792", ..., "added": {"function-1": {...}, ...}}
 *   {"agent": "host:4792", "error": "no answer for 10 s"}
 *   {"agent": "host:4792", "up": 0, "dart_up": 0, "time_ns": ..., "error": "no values for 5 s"}
 *   {"agent": "host:4792", "summary": {...}}
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/value.h>

#include "sink_json.h"

struct sink_json {
	struct sink sink;
	struct output *output;
};

/* A line while it is printed. */
struct line {
	FILE *out; /* NULL if memory ran out */
	char *text; /* set by fclose() */
	size_t length;
};

static void line__open(struct line *line)
{
	*line = (struct line){};
	line->out = open_memstream(&line->text, &line->length);
}

/* Returns the text, which the output takes over; NULL if memory ran out. */
static char *line__close(struct line *line)
{
	if (!line->out)
		return NULL;
	fputc('\n', line->out);
	if (!fclose(line->out))
		return line->text;
	free(line->text);
	return NULL;
}

/* Prints a further member of an object; the text is JSON in ASCII. */
static void print_labels(const struct target_settings *target, FILE *out)
{
	if (target->labels)
		fprintf(out, ",\"labels\":%s", target->labels->text);
}

/*
 * Prints @object and drops its reference; @object may be NULL. Prints ASCII only: remote text must
 * not control the terminal.
 */
static void print_object(json_t *object, size_t flags, struct line *line)
{
	if (line->out &&
	    (!object || json_dumpf(object, line->out, JSON_COMPACT | JSON_ENSURE_ASCII | flags))) {
		fclose(line->out);
		free(line->text);
		line->out = NULL;
	}
	json_decref(object);
}

static void print_entries(const struct sample *sample, FILE *out)
{
	uint32_t i;

	for (i = 0; i < sample->entry_count; i++) {
		const struct sample_entry *entry = &sample->entries[i];
		const char *name = entry->entry->name;

		fputc(i ? ',' : '{', out);
		dart_text__print_json(name, strlen(name), out);
		fputc(':', out);
		dart_entry__print_json(entry->entry, entry->copies, out);
	}
	fputs(i ? "}" : "{}", out);
}

static void print_cpus(const char *name, const uint64_t *set, uint32_t cpus, FILE *out)
{
	fprintf(out, ",\"%s\":\"", name);
	dart_cpus__print(set, cpus, out);
	fputc('"', out);
}

static void print_id(const char *name, const uint8_t id[16], FILE *out)
{
	int i;

	fprintf(out, ",\"%s\":\"", name);
	for (i = 0; i < 16; i++)
		fprintf(out, "%02x", id[i]);
	fputc('"', out);
}

/* Prints which host, boot and run of the agent the values come from. */
static void print_identity(const struct dart_table *table, FILE *out)
{
	json_t *node = json_string(table->node_name);

	/* Prints ASCII; the agent has already escaped other bytes. */
	fputs(",\"node\":", out);
	json_dumpf(node, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	json_decref(node);
	print_id("host_id", table->host_id, out);
	print_id("boot_id", table->boot_id, out);
	fprintf(out, ",\"instance\":\"%016llx\",\"generation\":%llu",
		(unsigned long long)table->instance, (unsigned long long)table->generation);
	print_cpus("online", table->online, table->cpus, out);
	print_cpus("nohz_full", table->nohz_full, table->cpus, out);
}

static json_t *head_to_json(const struct target_settings *target, const struct sample *sample)
{
	const struct sample_head *head = &sample->head;
	const struct sample_clock *clock = &sample->clock;
	const bool is_known = clock->uncertainty_ns;

	return json_pack("{ss si si sI sI so so sI sI sI sI si sI}", "agent", target->name, "up", 1,
			 "dart_up", 1, "sequence", (json_int_t)head->sequence, "time_ns",
			 (json_int_t)head->time_ns, "clock_offset_ns",
			 is_known ? json_integer(clock->offset_ns) : json_null(),
			 "clock_uncertainty_ns",
			 is_known ? json_integer(clock->uncertainty_ns) : json_null(), "start_ns",
			 (json_int_t)head->start_ns, "landed_ns", (json_int_t)head->landed_ns,
			 "end_ns", (json_int_t)sample->end_ns, "decode_ns",
			 (json_int_t)(sample->end_ns - head->landed_ns), "reads", head->reads,
			 "bytes", (json_int_t)head->bytes);
}

/* Prints a whole line: the members of @object, as print_object() does, and labels. */
static void print_members(json_t *object, const struct target_settings *target, struct line *line)
{
	if (line->out)
		fputc('{', line->out);
	print_object(object, JSON_EMBED, line);
	if (line->out) {
		print_labels(target, line->out);
		fputc('}', line->out);
	}
}

static int put_sample(struct sink *sink, const struct target_settings *target,
		      const struct sample *sample, const struct latency *decoded)
{
	struct sink_json *json = (struct sink_json *)sink;
	struct line line;
	char *text;

	line__open(&line);
	if (line.out)
		fputc('{', line.out);
	print_object(head_to_json(target, sample), JSON_EMBED, &line);
	if (line.out) {
		print_labels(target, line.out);
		print_identity(sample->table, line.out);
		fputs(sample->is_partial ? ",\"added\":" : ",\"entries\":", line.out);
		print_entries(sample, line.out);
		fputc('}', line.out);
	}
	text = line__close(&line);
	return output__write(json->output, text, line.length);
}

static int put_lost(struct sink *sink, const struct target_settings *target, const char *reason)
{
	struct sink_json *json = (struct sink_json *)sink;
	struct line line;
	char *text;

	line__open(&line);
	print_members(json_pack("{ss ss}", "agent", target->name, "error", reason), target, &line);
	text = line__close(&line);
	return output__write(json->output, text, line.length);
}

/* Printed in each interval, so that a reader of the lines need not notice missing lines. */
static int put_down(struct sink *sink, const struct target_settings *target, int64_t time_ns,
		    const char *reason)
{
	struct sink_json *json = (struct sink_json *)sink;
	struct line line;
	char *text;

	line__open(&line);
	print_members(json_pack("{ss si si sI ss}", "agent", target->name, "up", 0, "dart_up", 0,
				"time_ns", (json_int_t)time_ns, "error", reason),
		      target, &line);
	text = line__close(&line);
	return output__write(json->output, text, line.length);
}

static json_t *latency_to_json(const struct latency *latency)
{
	return json_pack("{sI sI sI sI sI}", "min", (json_int_t)latency->min, "p50",
			 (json_int_t)latency__percentile(latency, 50), "p90",
			 (json_int_t)latency__percentile(latency, 90), "p99",
			 (json_int_t)latency__percentile(latency, 99), "max",
			 (json_int_t)latency->max);
}

/* NULL: the agent updated no mirror. */
static json_t *mirror_to_json(const struct summary *summary)
{
	if (!summary->updates)
		return NULL;
	return json_pack("{sI sI sI sI}", "updates", (json_int_t)summary->updates, "parts",
			 (json_int_t)summary->parts, "tables", (json_int_t)summary->told, "gaps",
			 (json_int_t)summary->gaps);
}

static int put_summary(struct sink *sink, const struct target_settings *target,
		       const struct summary *summary, bool is_last)
{
	struct sink_json *json = (struct sink_json *)sink;
	double scrapes = summary->scrapes ? summary->scrapes : 1;
	struct line line;
	char *text;

	line__open(&line);
	print_members(json_pack("{ss s{sI sI sI sI sI sf sf so so so*}}", "agent", target->name,
				"summary", "scrapes", (json_int_t)summary->scrapes, "failed",
				(json_int_t)summary->failed, "missed", (json_int_t)summary->missed,
				"discarded", (json_int_t)summary->discarded, "dropped",
				(json_int_t)(summary->dropped + summary->unwritten),
				"reads_per_scrape", summary->reads / scrapes, "bytes_per_scrape",
				summary->bytes / scrapes, "latency_ns",
				latency_to_json(&summary->decoded), "landed_ns",
				latency_to_json(&summary->landed), "mirror",
				mirror_to_json(summary)),
		      target, &line);
	text = line__close(&line);
	return is_last ? output__write_always(json->output, text, line.length) :
			 output__write(json->output, text, line.length);
}

static void sink_json__free(struct sink *sink)
{
	free(sink);
}

static const struct sink_operations sink_json_operations = {
	.sample = put_sample,
	.lost = put_lost,
	.down = put_down,
	.summary = put_summary,
	.free = sink_json__free,
};

struct sink *sink_json__new(struct output *output)
{
	struct sink_json *json = calloc(1, sizeof(*json));

	if (!json)
		return NULL;
	json->sink.operations = &sink_json_operations;
	json->sink.takes_parts = true;
	json->output = output;
	return &json->sink;
}
