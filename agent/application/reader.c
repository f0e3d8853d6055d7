// SPDX-License-Identifier: GPL-2.0-only
/* Plans and makes the calls that fetch the values of an entry: see reader.h. */
#include "reader.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define WORD 8 /* bytes */
#define LEVELS (DART_APPLICATION_STEPS_MAX + 1)
#define VALUES_MAX 65536 /* of all rows */
#define BUFFER_MAX (16 << 20) /* bytes */
/*
 * Bytes between two values that are fetched as well.  All of them lie on the pages of these values,
 * because no page is smaller.
 */
#define GAP_MAX 4096
/* Room in the buffer for bytes between runs. */
#define SPARE (64 << 10)

/* Bytes of a row that are fetched together, @from a module's base, or from a pointer's value. */
struct run {
	uint64_t from;
	uint32_t length;
	uint32_t parent; /* module, or pointer of the level before */
	uint32_t row;
	uint32_t first_value, value_count;
	bool has_only_texts; /* which a pointer leads to */
	uint64_t known; /* address of the bytes that its texts were copied from; 0: none */
	/* of the current pass */
	bool is_fetched;
	uint64_t address; /* 0: behind a NULL pointer */
	uint32_t slot; /* bytes from the start of the buffer, a multiple of WORD */
};

/* A word of a run that the next level starts from. */
struct pointer {
	uint32_t run;
	uint32_t offset; /* bytes */
};

struct value {
	uint32_t offset; /* bytes in the run */
	uint32_t length; /* bytes */
	uint32_t alignment; /* bytes */
	uint32_t to; /* bytes from the start of the rows */
};

struct application_reader {
	struct run *runs; /* of the first level, then of the others */
	/* Index of the first run of each row at each level, and of the first one after all rows. */
	uint32_t *firsts[LEVELS];
	uint32_t *order; /* indexes of the runs of a level that are fetched, by their addresses */
	struct application_row *all; /* rows */
	uint32_t row_count;
	struct pointer *pointers;
	uint32_t pointer_count;
	struct value *values;
	uint32_t value_count;
	uint8_t *buffer;
	struct iovec local[IOV_MAX], remote[IOV_MAX];
};

/* ---- the plan */

/* Bytes that a value of a row needs at a level: a pointer, or the value itself. */
struct want {
	uint64_t from;
	uint32_t parent;
	uint32_t length;
	uint32_t row;
	uint32_t index; /* row * fields + field */
};

struct plan {
	struct application_reader *reader;
	const struct dart_application_entry *entry;
	struct want *wants;
	uint32_t *pointers; /* by index: the pointer that the next level of it starts from */
	uint32_t run_count;
	uint64_t buffer_length;
};

static int by_location(const void *a, const void *b)
{
	const struct want *left = a, *right = b;

	if (left->row != right->row)
		return left->row < right->row ? -1 : 1;
	if (left->parent != right->parent)
		return left->parent < right->parent ? -1 : 1;
	return (left->from > right->from) - (left->from < right->from);
}

/* Lists the wants of a level, in order.  Returns their number. */
static uint32_t plan__list(const struct plan *plan, uint32_t level)
{
	const struct dart_application_entry *entry = plan->entry;
	const uint32_t fields = entry->schema->field_count;
	struct dart_application_location location;
	uint32_t count = 0, row, i;
	struct want *want;

	for (row = 0; row < entry->rows; row++) {
		for (i = 0; i < fields; i++) {
			location = dart_application_entry__location(entry, row, i);
			if (location.steps < level)
				continue;
			want = &plan->wants[count++];
			want->row = row;
			want->index = row * fields + i;
			want->from = level ? location.offsets[level - 1] : location.address;
			want->parent = level ? plan->pointers[want->index] : location.module;
			want->length = location.steps > level ?
					       WORD :
					       entry->schema->fields[i].width *
						       entry->schema->fields[i].count;
		}
	}
	qsort(plan->wants, count, sizeof(*plan->wants), by_location);
	return count;
}

static bool joins(const struct run *run, const struct want *want)
{
	const uint64_t end = run->from + run->length;

	return run->row == want->row && run->parent == want->parent &&
	       (want->from <= end || want->from - end < GAP_MAX);
}

static void plan__add_pointer(struct plan *plan, const struct want *want, uint32_t run,
			      uint32_t offset)
{
	struct application_reader *reader = plan->reader;
	struct pointer *last = &reader->pointers[reader->pointer_count];

	/* Equal wants are neighbours. */
	if (reader->pointer_count && last[-1].run == run && last[-1].offset == offset) {
		plan->pointers[want->index] = reader->pointer_count - 1;
		return;
	}
	*last = (struct pointer){ .run = run, .offset = offset };
	plan->pointers[want->index] = reader->pointer_count++;
}

static void plan__add_value(struct plan *plan, const struct want *want, struct run *run,
			    uint32_t offset)
{
	const struct dart_schema *schema = plan->entry->schema;
	const struct dart_field *field = &schema->fields[want->index % schema->field_count];
	const bool is_text = field->kind == DART_CONTROL_FIELD_TEXT;

	if (!run->value_count++)
		run->first_value = plan->reader->value_count;
	run->has_only_texts &= is_text;
	plan->reader->values[plan->reader->value_count++] = (struct value){
		.offset = offset,
		.length = want->length,
		.alignment = is_text ? 1 : field->width,
		.to = want->index / schema->field_count * schema->length + field->offset,
	};
}

/* Joins the wants of a level to runs, for which the buffer has room. */
static int plan__add_level(struct plan *plan, uint32_t level)
{
	struct application_reader *reader = plan->reader;
	const uint32_t count = plan__list(plan, level), first = plan->run_count;
	uint32_t at = first;
	const uint32_t fields = plan->entry->schema->field_count;
	struct run *run = NULL;
	uint64_t offset;
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct want *want = &plan->wants[i];

		if (!run || !joins(run, want)) {
			run = &reader->runs[plan->run_count++];
			*run = (struct run){ .from = want->from,
					     .parent = want->parent,
					     .row = want->row,
					     .has_only_texts = level };
		}
		offset = want->from - run->from;
		if (offset + want->length > BUFFER_MAX)
			return -E2BIG;
		if (offset + want->length > run->length)
			run->length = offset + want->length;
		if (dart_application_entry__location(plan->entry, want->index / fields,
						     want->index % fields)
			    .steps > level) {
			plan__add_pointer(plan, want, run - reader->runs, offset);
			run->has_only_texts = false;
		} else {
			plan__add_value(plan, want, run, offset);
		}
	}
	for (i = first; i < plan->run_count; i++) {
		/* Words at both ends are fetched whole. */
		plan->buffer_length += (reader->runs[i].length + 3 * WORD - 1) / WORD * WORD;
		if (plan->buffer_length > BUFFER_MAX)
			return -E2BIG;
	}
	for (i = 0; i <= reader->row_count; i++) {
		reader->firsts[level][i] = at;
		while (at < plan->run_count && reader->runs[at].row == i)
			at++;
	}
	return 0;
}

static int plan__make_rows(struct application_reader *reader, uint32_t rows)
{
	uint32_t level, i;

	reader->row_count = rows;
	reader->all = calloc(rows, sizeof(*reader->all));
	if (!reader->all)
		return -ENOMEM;
	for (i = 0; i < rows; i++)
		reader->all[i] = (struct application_row){ .row = i, .is_whole = true };
	for (level = 0; level < LEVELS; level++) {
		reader->firsts[level] = calloc(rows + 1, sizeof(*reader->firsts[level]));
		if (!reader->firsts[level])
			return -ENOMEM;
	}
	return 0;
}

static int plan__make(struct plan *plan, size_t values)
{
	struct application_reader *reader = plan->reader;
	int ret = plan__make_rows(reader, plan->entry->rows);
	uint32_t level;

	plan->wants = calloc(values, sizeof(*plan->wants));
	plan->pointers = calloc(values, sizeof(*plan->pointers));
	reader->runs = calloc(LEVELS * values, sizeof(*reader->runs));
	reader->order = calloc(LEVELS * values, sizeof(*reader->order));
	reader->pointers = calloc(DART_APPLICATION_STEPS_MAX * values, sizeof(*reader->pointers));
	reader->values = calloc(values, sizeof(*reader->values));
	if (!plan->wants || !plan->pointers || !reader->runs || !reader->order ||
	    !reader->pointers || !reader->values)
		ret = -ENOMEM;
	for (level = 0; !ret && level < LEVELS; level++)
		ret = plan__add_level(plan, level);
	if (!ret) {
		reader->buffer = aligned_alloc(64, (plan->buffer_length + SPARE + 63) / 64 * 64);
		if (!reader->buffer)
			ret = -ENOMEM;
	}
	free(plan->wants);
	free(plan->pointers);
	return ret;
}

int application_reader__new(struct application_reader **result,
			    const struct dart_application_entry *entry, struct dart_error *error)
{
	const size_t values = (size_t)entry->rows * entry->schema->field_count;
	struct plan plan = { .entry = entry };
	int ret = -E2BIG;

	plan.reader = calloc(1, sizeof(*plan.reader));
	if (!plan.reader)
		return dart_error__no_memory(error);
	if (values <= VALUES_MAX)
		ret = plan__make(&plan, values);
	if (!ret) {
		*result = plan.reader;
		return 0;
	}
	application_reader__free(plan.reader);
	return ret == -ENOMEM ?
		       dart_error__no_memory(error) :
		       dart_error__set(error, E2BIG,
				       "entry '%s' has more than %d values, or 16 MiB of memory",
				       entry->schema->name, VALUES_MAX);
}

void application_reader__free(struct application_reader *reader)
{
	uint32_t level;

	if (!reader)
		return;
	for (level = 0; level < LEVELS; level++)
		free(reader->firsts[level]);
	free(reader->all);
	free(reader->runs);
	free(reader->order);
	free(reader->pointers);
	free(reader->values);
	free(reader->buffer);
	free(reader);
}

/* ---- a pass */

/* Where a byte of a run has landed. */
static const uint8_t *landed(const struct application_reader *reader, const struct run *run,
			     uint32_t offset)
{
	return reader->buffer + run->slot + run->address % WORD + offset;
}

/* The address that a run of the levels after the first is counted from.  0 or -EFAULT. */
static int follow(const struct application_reader *reader, uint32_t index, uint64_t *address)
{
	const struct pointer *pointer = &reader->pointers[index];
	const struct run *run = &reader->runs[pointer->run];

	*address = 0;
	if (!run->address)
		return 0;
	if ((run->address + pointer->offset) % WORD)
		return -EFAULT;
	memcpy(address, landed(reader, run, pointer->offset), sizeof(*address));
	return 0;
}

/* Makes one call for @count runs, whose vectors are set. */
static int fetch(struct application_reader *reader, pid_t pid, size_t count, size_t bytes)
{
	ssize_t got;

	if (!count)
		return 0;
	got = process_vm_readv(pid, reader->local, count, reader->remote, count, 0);
	if (got == (ssize_t)bytes)
		return 0;
	return got < 0 && errno != EFAULT ? -errno : -EFAULT;
}

/* A fetch begins and ends at multiples of a word, so that no word is copied in parts. */
static uint64_t start_of(const struct run *run)
{
	return run->address - run->address % WORD;
}

static uint64_t end_of(const struct run *run)
{
	return (run->address + run->length + WORD - 1) / WORD * WORD;
}

/* Sets the address of a run of @level.  0 or -EFAULT. */
static int find_run(const struct application_reader *reader,
		    const struct application_process *process, uint32_t level, struct run *run)
{
	uint64_t base = 0;
	int ret = 0;

	if (level)
		ret = follow(reader, run->parent, &base);
	else
		base = process->bases[run->parent];
	run->address = 0;
	if (ret || (level && !base))
		return ret;
	if (__builtin_add_overflow(base, run->from, &run->address) ||
	    run->address > UINT64_MAX - run->length - WORD)
		return -EFAULT;
	return 0;
}

/*
 * Finds the addresses of the runs of a level, and lists the ones to fetch, *@count.  0 or -EFAULT.
 */
static int find_runs(struct application_reader *reader, const struct application_process *process,
		     const struct application_row *row, const struct application_row *end,
		     uint32_t level, uint32_t *count)
{
	const uint32_t *firsts = reader->firsts[level];
	struct run *run;
	uint32_t i;
	int ret;

	*count = 0;
	for (; row < end; row++) {
		for (i = firsts[row->row]; i < firsts[row->row + 1]; i++) {
			run = &reader->runs[i];
			ret = find_run(reader, process, level, run);
			if (ret)
				return ret;
			run->is_fetched = row->is_whole || !run->has_only_texts ||
					  run->known != run->address;
			if (run->is_fetched && run->address)
				reader->order[(*count)++] = i;
		}
	}
	return 0;
}

static int by_address(const void *a, const void *b, void *runs)
{
	const struct run *left = (struct run *)runs + *(const uint32_t *)a;
	const struct run *right = (struct run *)runs + *(const uint32_t *)b;

	return (left->address > right->address) - (left->address < right->address);
}

static void sort_runs(struct application_reader *reader, uint32_t count)
{
	uint32_t i;

	for (i = 1; i < count; i++) {
		if (by_address(&reader->order[i - 1], &reader->order[i], reader->runs) <= 0)
			continue;
		qsort_r(reader->order, count, sizeof(*reader->order), by_address, reader->runs);
		return;
	}
}

/*
 * Fetches the listed runs of a level into the buffer from @used on, neighbours together, with at
 * most @spare bytes between them: a vector costs as much as hundreds of bytes.
 */
static int fetch_runs(struct application_reader *reader, pid_t pid, uint32_t listed, uint32_t *used,
		      uint32_t *spare)
{
	uint64_t group = 0, group_end = 0; /* addresses */
	size_t count = 0, bytes = 0;
	struct run *run;
	uint64_t more;
	uint32_t i;
	int ret;

	for (i = 0; i < listed; i++) {
		run = &reader->runs[reader->order[i]];
		more = start_of(run) > group_end ? start_of(run) - group_end : 0;
		if (count && more < GAP_MAX && more <= *spare) {
			*spare -= more;
		} else {
			if (count == IOV_MAX) {
				ret = fetch(reader, pid, count, bytes);
				if (ret)
					return ret;
				count = bytes = 0;
			}
			group = group_end = start_of(run);
			reader->local[count] = (struct iovec){ reader->buffer + *used, 0 };
			reader->remote[count++] = (struct iovec){ (void *)(uintptr_t)group, 0 };
		}
		run->slot = (uint8_t *)reader->local[count - 1].iov_base - reader->buffer +
			    (start_of(run) - group);
		more = end_of(run) > group_end ? end_of(run) - group_end : 0;
		group_end += more;
		reader->local[count - 1].iov_len += more;
		reader->remote[count - 1].iov_len += more;
		*used += more;
		bytes += more;
	}
	return fetch(reader, pid, count, bytes);
}

/* Copies a value, or zeroes behind a NULL pointer.  True if it is another one than before. */
static bool copy_value(const struct application_reader *reader, const struct run *run,
		       const struct value *value, uint8_t *to)
{
	const uint8_t *from;
	uint32_t i;

	if (run->address) {
		from = landed(reader, run, value->offset);
		if (!memcmp(to, from, value->length))
			return false;
		memcpy(to, from, value->length);
		return true;
	}
	for (i = 0; i < value->length && !to[i]; i++)
		;
	memset(to, 0, value->length);
	return i < value->length;
}

/* Copies the values of a run; tells whether one of them is another than before. */
static int copy_run(const struct application_reader *reader, struct run *run, uint8_t *rows,
		    bool *has_changed)
{
	const struct value *value = reader->values + run->first_value;
	const struct value *end = value + run->value_count;

	for (; value < end; value++) {
		if (run->address && (run->address + value->offset) % value->alignment)
			return -EFAULT;
		*has_changed |= copy_value(reader, run, value, rows + value->to);
	}
	run->known = run->address;
	return 0;
}

static int copy_values(struct application_reader *reader, uint8_t *rows,
		       struct application_row *row, const struct application_row *end)
{
	uint32_t level, i;
	int ret = 0;

	for (; !ret && row < end; row++) {
		row->has_changed = false;
		for (level = 0; level < LEVELS; level++)
			for (i = reader->firsts[level][row->row];
			     !ret && i < reader->firsts[level][row->row + 1]; i++)
				if (reader->runs[i].is_fetched)
					ret = copy_run(reader, &reader->runs[i], rows,
						       &row->has_changed);
	}
	return ret;
}

int application_reader__read(struct application_reader *reader,
			     const struct application_process *process, void *rows,
			     struct application_row *fetched, uint32_t count)
{
	struct application_row *row = fetched ?: reader->all;
	const struct application_row *end = row + (fetched ? count : reader->row_count);
	uint32_t level, listed, used = 0, spare = SPARE;
	int ret = 0;

	for (level = 0; !ret && level < LEVELS; level++) {
		ret = find_runs(reader, process, row, end, level, &listed);
		if (ret)
			break;
		sort_runs(reader, listed);
		ret = fetch_runs(reader, process->pid, listed, &used, &spare);
	}
	/* The bytes are worthless if another process, or another program, has the pid by now. */
	if (!application_process__lives(process))
		return -ESRCH;
	return ret ?: copy_values(reader, rows, row, end);
}
