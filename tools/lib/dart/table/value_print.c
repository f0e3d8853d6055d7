// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints values as JSON to a stream.  Takes no memory, however many values there are.
 */
#include <string.h>

#include <libdart/escape.h>

#include "value.h"

/* The code point of a character of @length bytes. */
static uint32_t code_point(const uint8_t *bytes, size_t length)
{
	uint32_t point = length == 1 ? *bytes : *bytes & (0xff >> (length + 1));
	size_t i;

	for (i = 1; i < length; i++)
		point = point << 6 | (bytes[i] & 0x3f);
	return point;
}

/* A printable ASCII character. */
static void print_character(const char *character, size_t length, FILE *out)
{
	const uint32_t point = code_point((const uint8_t *)character, length);

	if (*character == '"' || *character == '\\')
		putc_unlocked('\\', out);
	if (length == 1)
		putc_unlocked(*character, out);
	else if (point < 0x10000)
		fprintf(out, "\\u%04X", point);
	else
		fprintf(out, "\\u%04X\\u%04X", 0xd800 + ((point - 0x10000) >> 10),
			0xdc00 + ((point - 0x10000) & 0x3ff));
}

/* @piece is a character, or an escape, which is ASCII. */
static void print_piece(const char *piece, FILE *out)
{
	const size_t length = strlen(piece);
	size_t i;

	if ((uint8_t)*piece >= 0x80) {
		print_character(piece, length, out);
		return;
	}
	for (i = 0; i < length; i++)
		print_character(piece + i, 1, out);
}

void dart_text__print_json(const void *bytes, size_t width, FILE *out)
{
	size_t left = strnlen(bytes, width), taken;
	const uint8_t *text = bytes;
	char piece[DART_ESCAPE_PIECE];

	putc_unlocked('"', out);
	for (; left; text += taken, left -= taken) {
		taken = dart_escape__next(text, left, DART_ESCAPE_NAME, piece);
		print_piece(piece, out);
	}
	putc_unlocked('"', out);
}

static void print_name(const char *name, FILE *out)
{
	dart_text__print_json(name, strlen(name), out);
	putc_unlocked(':', out);
}

static void print_number(const struct dart_field *field, uint64_t value, FILE *out)
{
	const bool is_negative = field->is_signed && (int64_t)value < 0;
	char text[24];
	char *c = text + sizeof(text);

	if (is_negative)
		value = -value;
	do {
		*--c = '0' + value % 10;
		value /= 10;
	} while (value);
	if (is_negative)
		*--c = '-';
	fwrite_unlocked(c, 1, text + sizeof(text) - c, out);
}

/* Element @index: the sum over all copies of @entry, or without one the value. */
static void print_element(const struct dart_entry *entry, const struct dart_field *field,
			  const void *copies, uint32_t index, FILE *out)
{
	print_number(field,
		     entry ? dart_entry__sum(entry, field, copies, index) :
			     dart_field__get(field, copies, index),
		     out);
}

/* As print_element(). */
static void print_field(const struct dart_entry *entry, const struct dart_field *field,
			const void *copies, FILE *out)
{
	char address[INET6_ADDRSTRLEN];
	uint32_t i;

	if (field->kind == DART_CONTROL_FIELD_TEXT) {
		dart_text__print_json((const uint8_t *)copies + field->offset, field->width, out);
	} else if (field->kind == DART_CONTROL_FIELD_ADDRESS) {
		dart_field__address(field, copies, address);
		dart_text__print_json(address, sizeof(address), out);
	} else if (field->count == 1) {
		print_element(entry, field, copies, 0, out);
	} else {
		for (i = 0; i < field->count; i++) {
			putc_unlocked(i ? ',' : '[', out);
			print_element(entry, field, copies, i, out);
		}
		putc_unlocked(']', out);
	}
}

static bool is_counted(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_COUNTER ||
	       field->kind == DART_CONTROL_FIELD_HISTOGRAM;
}

/* The sums over the copies of @entry, or without one the fields of a copy. */
static void print_fields(const struct dart_entry *entry, const struct dart_schema *schema,
			 const void *copies, FILE *out)
{
	bool is_first = true;
	uint32_t i;

	putc_unlocked('{', out);
	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];

		if (entry ? !is_counted(field) : field->kind == DART_CONTROL_FIELD_SEQUENCE)
			continue;
		if (!is_first)
			putc_unlocked(',', out);
		is_first = false;
		print_name(field->name, out);
		print_field(entry, field, copies, out);
	}
	putc_unlocked('}', out);
}

static void print_copies(const struct dart_entry *entry, const void *copies, FILE *out)
{
	const uint8_t *copy = copies;
	uint32_t i;

	for (i = 0; i < entry->copies; i++) {
		putc_unlocked(i ? ',' : '[', out);
		print_fields(NULL, entry->schema, copy, out);
		copy += entry->schema->length;
	}
	putc_unlocked(']', out);
}

/* Rows by number, without empty ones; torn ones are null. */
static void print_sequenced(const struct dart_entry *entry, const void *copies, FILE *out)
{
	const uint8_t *copy = copies;
	bool is_first = true;
	uint32_t i;

	putc_unlocked('{', out);
	for (i = 0; i < entry->copies; i++, copy += entry->schema->length) {
		const enum dart_row_state state = dart_row__state(entry->schema, copy);

		if (state == DART_ROW_EMPTY)
			continue;
		fprintf(out, "%s\"%u\":", is_first ? "" : ",", i);
		is_first = false;
		if (state == DART_ROW_TORN)
			fputs_unlocked("null", out);
		else
			print_fields(NULL, entry->schema, copy, out);
	}
	putc_unlocked('}', out);
}

void dart_entry__print_json(const struct dart_entry *entry, const void *copies, FILE *out)
{
	fprintf(out, "{\"kind\":\"%s\",\"schema\":", dart_entry_kind__name(entry->kind));
	dart_text__print_json(entry->schema->name, strlen(entry->schema->name), out);
	fprintf(out, ",\"copies\":\"%s\",\"since\":%llu", dart_copies__name(entry->copies_are),
		(unsigned long long)entry->since);
	if (dart_schema__lags(entry->schema))
		fputs_unlocked(",\"lags_on_nohz_full\":true", out);
	switch (entry->copies_are) {
	case DART_CONTROL_COPIES_CPU:
		fputs_unlocked(",\"sum\":", out);
		print_fields(entry, entry->schema, copies, out);
		fputs_unlocked(",\"cpus\":", out);
		print_copies(entry, copies, out);
		break;
	case DART_CONTROL_COPIES_SUM:
		fputs_unlocked(",\"sum\":", out);
		if (dart_row__state(entry->schema, copies) == DART_ROW_WHOLE)
			print_fields(NULL, entry->schema, copies, out);
		else
			fputs_unlocked("null", out);
		break;
	default:
		fputs_unlocked(",\"rows\":", out);
		if (dart_schema__has_sequence(entry->schema))
			print_sequenced(entry, copies, out);
		else
			print_copies(entry, copies, out);
	}
	putc_unlocked('}', out);
}

/* Is CPU @cpu in @set? */
static bool has_cpu(const uint64_t *set, uint32_t cpu)
{
	return set[cpu / 64] >> cpu % 64 & 1;
}

void dart_cpus__print(const uint64_t *set, uint32_t cpus, FILE *out)
{
	const char *gap = "";
	uint32_t cpu, last;

	for (cpu = 0; cpu < cpus; cpu++) {
		if (!has_cpu(set, cpu))
			continue;
		for (last = cpu; last + 1 < cpus && has_cpu(set, last + 1); last++)
			;
		fprintf(out, cpu == last ? "%s%u" : "%s%u-%u", gap, cpu, last);
		gap = ",";
		cpu = last;
	}
}
