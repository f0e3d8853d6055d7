// SPDX-License-Identifier: GPL-2.0-only
/* Chooses lines and columns of an entry and prints them as a table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "entry_view.h"
#include "value_text.h"

/* An entry with at most this many lines is shown whole, including zeros. */
#define LINES_FEW 12

/* The element that a line or a column shows; the first element is { .field = fields }. */
struct element {
	const struct dart_field *field;
	uint32_t index; /* within the field */
	uint32_t number; /* within the copy */
};

static void element__next(struct element *element)
{
	element->number++;
	if (++element->index < element->field->count)
		return;
	element->field++;
	element->index = 0;
}

/* A table while its cells are filled. */
struct drawing {
	struct cells cells;
	const struct sample_entry *now;
	const struct sample_entry *before; /* NULL if the sample has no previous one */
	double seconds; /* between the two samples */
	bool complete; /* prints no rates */
};

/* Passed to add_row_line() as the row: print the titles. */
#define TITLES UINT32_MAX

static const uint8_t *copy_of(const struct sample_entry *of, uint32_t copy)
{
	return (const uint8_t *)of->copies + (size_t)copy * of->entry->schema->length;
}

static bool has_rows(const struct sample_entry *of)
{
	return of->entry->copies_are == DART_CONTROL_COPIES_ROW;
}

static bool is_sum(const struct sample_entry *of)
{
	return of->entry->copies_are == DART_CONTROL_COPIES_SUM;
}

/* True for the fields about a row itself, which get no line. */
static bool is_about_row(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_SEQUENCE || field->kind == DART_CONTROL_FIELD_TIME;
}

static enum dart_row_state state_of(const struct sample_entry *of, uint32_t row)
{
	return dart_row__state(of->entry->schema, copy_of(of, row));
}

static const struct sample_entry *previous_of(const struct sample *sample, uint32_t index)
{
	return sample->previous ? &sample->previous->entries[index] : NULL;
}

/* Ranks @length bytes at @offset of copy @copy. */
static enum entry_view_rank rank_bytes(const struct sample_entry *now,
				       const struct sample_entry *before, uint32_t copy,
				       size_t offset, size_t length)
{
	const uint8_t *bytes = copy_of(now, copy) + offset;

	if (before && memcmp(bytes, copy_of(before, copy) + offset, length))
		return ENTRY_VIEW_CHANGED;
	if (bytes[0] || memcmp(bytes, bytes + 1, length - 1))
		return ENTRY_VIEW_STEADY;
	return ENTRY_VIEW_ZERO;
}

static enum entry_view_rank rank_element(const struct sample_entry *now,
					 const struct sample_entry *before,
					 const struct element *element)
{
	const struct dart_field *field = element->field;
	size_t offset = field->offset + (size_t)element->index * field->width;
	enum entry_view_rank rank = ENTRY_VIEW_ZERO, of_copy;
	uint32_t copy;

	for (copy = 0; copy < now->entry->copies; copy++) {
		of_copy = rank_bytes(now, before, copy, offset, field->width);
		if (of_copy > rank)
			rank = of_copy;
	}
	return rank;
}

int entry_view__update(struct entry_view *view, const struct sample *sample, uint32_t index)
{
	const struct sample_entry *now = &sample->entries[index];
	const struct sample_entry *before = previous_of(sample, index);
	const struct dart_schema *schema = now->entry->schema;
	struct element element = { .field = schema->fields };
	enum entry_view_rank rank;
	uint32_t i;

	if (!before || !view->ranks) {
		entry_view__clear(view);
		view->lines = has_rows(now) ? now->entry->copies : sample__elements(schema);
		view->ranks = calloc(view->lines + 1, sizeof(*view->ranks));
		if (!view->ranks)
			return -ENOMEM;
	}
	memset(view->count, 0, sizeof(view->count));
	for (i = 0; i < view->lines; i++) {
		if (!has_rows(now)) {
			rank = rank_element(now, before, &element);
			if (is_about_row(element.field))
				rank = view->ranks[i] = ENTRY_VIEW_EMPTY;
			element__next(&element);
		} else if (state_of(now, i) == DART_ROW_EMPTY) {
			rank = view->ranks[i] = ENTRY_VIEW_EMPTY;
		} else {
			rank = rank_bytes(now, before, i, 0, schema->length);
		}
		if (rank > view->ranks[i])
			view->ranks[i] = rank;
		view->count[view->ranks[i]]++;
	}
	return 0;
}

static size_t entry_view__lines_in_use(const struct entry_view *view)
{
	return view->lines - view->count[ENTRY_VIEW_EMPTY];
}

size_t entry_view__wanted(const struct entry_view *view)
{
	size_t lines = entry_view__lines_in_use(view);

	if (lines <= LINES_FEW)
		return lines;
	return lines - view->count[ENTRY_VIEW_ZERO];
}

/* Adds the minimum and maximum over the copies, for values that do not add up. */
static void add_span(struct cells *cells, const struct sample_entry *of,
		     const struct element *element)
{
	const struct dart_field *field = element->field;
	uint64_t flip = field->is_signed ? 1ULL << 63 : 0;
	uint64_t least = UINT64_MAX, greatest = 0, value;
	uint32_t copy;

	if (field->kind == DART_CONTROL_FIELD_TEXT || field->kind == DART_CONTROL_FIELD_ADDRESS) {
		if (is_sum(of)) /* one copy */
			value_text__add_element(cells, field, of->copies, element->index);
		else
			cells__add(cells, "%s", "");
		return;
	}
	for (copy = 0; copy < of->entry->copies; copy++) {
		value = dart_field__get(field, copy_of(of, copy), element->index) ^ flip;
		if (value < least)
			least = value;
		if (value > greatest)
			greatest = value;
	}
	if (least == greatest)
		value_text__add(cells, field, least ^ flip);
	else if (field->is_signed)
		cells__add(cells, "%lld to %lld", (long long)(least ^ flip),
			   (long long)(greatest ^ flip));
	else
		cells__add(cells, "%llu to %llu", (unsigned long long)least,
			   (unsigned long long)greatest);
}

/* The time inside a row is more exact than the times of the READs. */
static double seconds_between(const struct sample_entry *before, const struct sample_entry *now,
			      uint32_t copy, double seconds)
{
	const struct dart_schema *schema = now->entry->schema;
	uint64_t then = dart_row__time(schema, copy_of(before, copy));
	uint64_t time = dart_row__time(schema, copy_of(now, copy));

	return time ? (int64_t)(time - then) / 1e9 : seconds;
}

/*
 * Adds a cell of copy @copy: the rate of a counter if @is_rate, otherwise the value. The cell is
 * empty if the previous sample lacks the row.
 */
static void add_copy(struct drawing *drawing, const struct element *element, uint32_t copy,
		     bool is_rate)
{
	const struct sample_entry *before = drawing->before;
	const uint8_t *now = copy_of(drawing->now, copy);
	const struct dart_field *field = element->field;

	double seconds = drawing->seconds;

	if (is_rate && before)
		seconds = seconds_between(before, drawing->now, copy, seconds);
	if (!is_rate || !field__is_counted(field))
		value_text__add_element(&drawing->cells, field, now, element->index);
	else if (!before || state_of(before, copy) != DART_ROW_WHOLE || seconds <= 0)
		cells__add(&drawing->cells, "%s", "");
	else
		value_text__add_rate(&drawing->cells, field,
				     dart_field__get(field, copy_of(before, copy), element->index),
				     dart_field__get(field, now, element->index), seconds);
}

static uint64_t sum_of(const struct sample_entry *of, const struct element *element)
{
	return sample_entry__sum(of, element->field, element->index, element->number);
}

/* Adds a line of an entry whose copies belong to CPUs. */
static void add_element_line(struct drawing *drawing, const struct element *element, uint32_t cpus)
{
	const bool is_counted = field__is_counted(element->field);
	const struct dart_field *field = element->field;
	struct cells *cells = &drawing->cells;
	double seconds = 0;
	uint32_t cpu;

	if (drawing->before &&
	    (!is_sum(drawing->now) || state_of(drawing->before, 0) == DART_ROW_WHOLE))
		seconds = seconds_between(drawing->before, drawing->now, 0, drawing->seconds);
	value_text__add_name(cells, field, element->index, "");
	if (is_counted)
		value_text__add(cells, field, sum_of(drawing->now, element));
	else
		add_span(cells, drawing->now, element);
	if (!drawing->complete && seconds > 0 && is_counted)
		value_text__add_rate(cells, field, sum_of(drawing->before, element),
				     sum_of(drawing->now, element), seconds);
	else if (!drawing->complete)
		cells__add(cells, "%s", "");
	for (cpu = 0; cpu < cpus; cpu++)
		add_copy(drawing, element, cpu, !drawing->complete);
}

/* Adds a cell of row @row, or of the titles. */
static void add_row_cell(struct drawing *drawing, const struct element *element, uint32_t row,
			 bool is_rate)
{
	if (row == TITLES)
		value_text__add_name(&drawing->cells, element->field, element->index,
				     is_rate ? "/s" : "");
	else
		add_copy(drawing, element, row, is_rate);
}

/* Adds a line, or the titles, of an entry whose copies are rows. */
static void add_row_line(struct drawing *drawing, uint32_t row, size_t columns)
{
	struct element element = {
		.field = drawing->now->entry->schema->fields,
	};
	struct cells *cells = &drawing->cells;
	size_t column = 1;

	if (row == TITLES)
		cells__add(cells, "row");
	else
		cells__add(cells, "%u", row);
	if (row != TITLES && state_of(drawing->now, row) == DART_ROW_TORN) {
		for (; column < columns; column++)
			cells__add(cells, "%s", column == 1 ? "torn" : "");
		return;
	}
	for (; column < columns; element__next(&element)) {
		if (element.field->kind == DART_CONTROL_FIELD_SEQUENCE)
			continue;
		add_row_cell(drawing, &element, row, false);
		if (++column == columns || drawing->complete || !field__is_counted(element.field))
			continue;
		add_row_cell(drawing, &element, row, true);
		column++;
	}
}

static size_t row_columns(const struct dart_schema *schema, const struct entry_view_style *style)
{
	size_t columns = 1 + sample__elements(schema);
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		if (schema->fields[i].kind == DART_CONTROL_FIELD_SEQUENCE)
			columns--;
		else if (field__is_counted(&schema->fields[i]) && !style->complete)
			columns += schema->fields[i].count;
	}
	if (style->complete)
		return columns;
	/* Each column takes at least one character and the gap. */
	return columns > style->width / 3 + 1 ? style->width / 3 + 1 : columns;
}

static void entry_view__fill(const struct entry_view *view, size_t lines, size_t columns,
			     struct drawing *drawing)
{
	struct element element = {
		.field = drawing->now->entry->schema->fields,
	};
	/* Lines of each rank that are still to be printed. */
	uint32_t chosen[ENTRY_VIEW_RANKS] = {};
	struct cells *cells = &drawing->cells;
	uint32_t i, cpus = 0;
	int rank;

	if (has_rows(drawing->now)) {
		add_row_line(drawing, TITLES, columns);
	} else {
		cells__add(cells, "field");
		cells__add(cells, "total");
		if (!drawing->complete)
			cells__add(cells, "per second");
		cpus = columns - cells->count;
		for (i = 0; i < cpus; i++)
			cells__add(cells, "cpu %u", i);
	}

	for (rank = ENTRY_VIEW_RANKS - 1; rank > ENTRY_VIEW_EMPTY; rank--) {
		chosen[rank] = view->count[rank] < lines ? view->count[rank] : lines;
		lines -= chosen[rank];
	}
	for (i = 0; i < view->lines; i++) {
		if (chosen[view->ranks[i]]) {
			chosen[view->ranks[i]]--;
			cells__start_line(cells);
			if (has_rows(drawing->now))
				add_row_line(drawing, i, columns);
			else
				add_element_line(drawing, &element, cpus);
		}
		if (!has_rows(drawing->now))
			element__next(&element);
	}
}

static int entry_view__print_values(const struct entry_view *view, const struct sample *sample,
				    uint32_t index, const struct entry_view_style *style, FILE *out)
{
	struct drawing drawing = {
		.now = &sample->entries[index],
		.before = previous_of(sample, index),
		.complete = style->complete,
	};
	const struct dart_entry *entry = drawing.now->entry;
	size_t width = style->complete ? SIZE_MAX : style->width;
	size_t fixed = 0, columns;
	int ret;

	if (sample->previous)
		drawing.seconds = (sample->head.start_ns - sample->previous->head.start_ns) / 1e9;
	if (has_rows(drawing.now)) {
		columns = row_columns(entry->schema, style);
	} else {
		fixed = style->complete ? 2 : 3;
		columns = fixed;
		if (entry->copies <= width / 3 && !is_sum(drawing.now))
			columns += entry->copies;
	}
	ret = cells__open(&drawing.cells);
	if (ret)
		return ret;
	entry_view__fill(view, style->lines, columns, &drawing);
	return cells__print_close(&drawing.cells, width, fixed, out);
}

int entry_view__print(const struct entry_view *view, const struct sample *sample, uint32_t index,
		      const struct entry_view_style *style, FILE *out)
{
	const struct sample_entry *now = &sample->entries[index];
	const struct dart_entry *entry = now->entry;
	size_t shown, lines = entry_view__lines_in_use(view);
	int ret;

	fprintf(out, "%s  %s, ", entry->name, entry->schema->name);
	if (has_rows(now) && dart_schema__has_sequence(entry->schema))
		fprintf(out, "%zu of ", lines);
	if (is_sum(now))
		fputs(state_of(now, 0) == DART_ROW_WHOLE ? "sum of all CPUs" : "torn", out);
	else
		fprintf(out, "%u %s", entry->copies, has_rows(now) ? "rows" : "CPUs");
	if (!lines || (is_sum(now) && state_of(now, 0) != DART_ROW_WHOLE)) {
		fputc('\n', out);
		return 0;
	}
	if (!style->lines) {
		fprintf(out,
			entry_view__wanted(view) ? ", no room for %zu lines\n" :
						   ", %zu lines, all zero\n",
			lines);
		return 0;
	}
	fputc('\n', out);
	ret = entry_view__print_values(view, sample, index, style, out);

	shown = style->lines < lines ? style->lines : lines;
	if (shown < lines)
		fprintf(out, "... %zu more%s\n", lines - shown,
			lines - shown <= view->count[ENTRY_VIEW_ZERO] ? ", all zero" : "");
	fputc('\n', out);
	return ret;
}

void entry_view__clear(struct entry_view *view)
{
	free(view->ranks);
	memset(view, 0, sizeof(*view));
}
