// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints samples as lines of CSV:
 *
 *   agent,sequence,time_ns,entry,copy,field,element,value
 *   "host:4792",1,1764066600000000000,cpustat,0,user,,120000000
 *   "host:4792",1,1764066600000000000,diskstats,3,name,,"sda"
 *
 * copy is the number of the CPU or the row, and empty for a sum. element is the number of an
 * element, and empty for fields of one element.  Torn and empty rows are not printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

#include "sink_csv.h"

/* Fits a name of 512 bytes, each escaped to four, and two numbers. */
#define PREFIX_MAX 2112

#define TITLES "agent,sequence,time_ns,entry,copy,field,element,value\n"

struct sink_csv {
	struct sink sink;
	struct output *output;
};

/* Prints the text with the escapes of labels. */
static void print_text(const char *text, size_t width, FILE *out)
{
	size_t left = strnlen(text, width), taken;
	char piece[DART_ESCAPE_PIECE];

	fputc('"', out);
	for (; left; text += taken, left -= taken) {
		taken = dart_escape__next(text, left, DART_ESCAPE_NAME, piece);
		fputs(*piece == '"' ? "\"\"" : piece, out);
	}
	fputc('"', out);
}

static void print_number(const struct dart_field *field, const void *copy, uint32_t index,
			 FILE *out)
{
	const uint64_t value = dart_field__get(field, copy, index);

	if (field->is_signed)
		fprintf(out, "%lld", (long long)value);
	else
		fprintf(out, "%llu", (unsigned long long)value);
}

static void print_element(const struct dart_field *field, const void *copy, uint32_t index,
			  FILE *out)
{
	char address[INET6_ADDRSTRLEN];

	switch (field->kind) {
	case DART_CONTROL_FIELD_TEXT:
		print_text((const char *)copy + field->offset, field->width, out);
		break;
	case DART_CONTROL_FIELD_ADDRESS:
		dart_field__address(field, copy, address);
		fputs(address, out);
		break;
	default:
		print_number(field, copy, index, out);
	}
}

/* @prefix begins all lines of the copy. */
static void print_field(const char *prefix, const struct dart_field *field, const void *copy,
			FILE *out)
{
	uint32_t i;

	for (i = 0; i < field->count; i++) {
		fprintf(out, "%s%s,", prefix, field->name);
		if (field->count > 1)
			fprintf(out, "%u", i);
		fputc(',', out);
		print_element(field, copy, i, out);
		fputc('\n', out);
	}
}

/* @sample begins all lines of the sample. */
static void print_copy(const char *sample, const struct dart_entry *entry, uint32_t number,
		       const void *copy, FILE *out)
{
	const struct dart_schema *schema = entry->schema;
	char prefix[PREFIX_MAX + DART_CONTROL_ENTRY_NAME_MAX + 16], text[16] = "";
	uint32_t i;

	if (dart_row__state(schema, copy) != DART_ROW_WHOLE)
		return;
	if (entry->copies_are != DART_CONTROL_COPIES_SUM)
		snprintf(text, sizeof(text), "%u", number);
	/* Names of entries contain neither commas nor quotation marks. */
	snprintf(prefix, sizeof(prefix), "%s%s,%s,", sample, entry->name, text);
	for (i = 0; i < schema->field_count; i++) {
		if (schema->fields[i].kind != DART_CONTROL_FIELD_SEQUENCE)
			print_field(prefix, &schema->fields[i], copy, out);
	}
}

static void make_prefix(const struct target_settings *target, const struct sample *sample,
			char prefix[PREFIX_MAX])
{
	FILE *out = fmemopen(prefix, PREFIX_MAX, "w");

	*prefix = '\0';
	if (!out)
		return;
	print_text(target->name, strlen(target->name), out);
	fprintf(out, ",%llu,%lld,", (unsigned long long)sample->head.sequence,
		(long long)sample->head.time_ns);
	fclose(out);
}

static void print_sample(const struct target_settings *target, const struct sample *sample,
			 FILE *out)
{
	const struct sample_entry *entry;
	const char *copy;
	char prefix[PREFIX_MAX];
	uint32_t i, k;

	make_prefix(target, sample, prefix);
	for (i = 0; i < sample->entry_count; i++) {
		entry = &sample->entries[i];
		copy = entry->copies;
		for (k = 0; k < entry->entry->copies; k++) {
			print_copy(prefix, entry->entry, k, copy, out);
			copy += entry->entry->schema->length;
		}
	}
}

static int put_sample(struct sink *sink, const struct target_settings *target,
		      const struct sample *sample, const struct latency *decoded)
{
	struct sink_csv *csv = (struct sink_csv *)sink;
	size_t length = 0;
	char *text = NULL;
	FILE *out;

	out = open_memstream(&text, &length);
	if (out) {
		print_sample(target, sample, out);
		if (fclose(out)) {
			free(text);
			text = NULL;
		}
	}
	return output__write(csv->output, text, length);
}

/* A loss brings no values. */
static int put_lost(struct sink *sink, const struct target_settings *target, const char *reason)
{
	return 0;
}

static void sink_csv__free(struct sink *sink)
{
	free(sink);
}

static const struct sink_operations operations = {
	.sample = put_sample,
	.lost = put_lost,
	.free = sink_csv__free,
};

struct sink *sink_csv__new(struct output *output)
{
	struct sink_csv *csv = calloc(1, sizeof(*csv));
	char *titles = strdup(TITLES);

	if (!csv || !titles) {
		free(titles);
		free(csv);
		return NULL;
	}
	csv->sink.operations = &operations;
	csv->output = output;
	output__write_always(output, titles, strlen(titles));
	return &csv->sink;
}
