// SPDX-License-Identifier: LGPL-2.1-or-later
/* Chooses pages and makes objects: see preload_pages.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>

#include "preload_pages.h"
#include "preload_process.h"

struct chooser {
	const struct preload_layout *layout;
	struct dart_zero *zero;
	uintptr_t bases[PRELOAD_MODULES_MAX];
	uintptr_t pages[DART_REGISTRATION_MEMORY_PAGES_MAX + 1];
	size_t page_count;
	int left_out;
	const char *example;
	char *reason;
};

__attribute__((format(printf, 3, 4))) static int refuse(const struct chooser *chooser, int ret,
							const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(chooser->reason, PRELOAD_REASON_MAX, format, arguments);
	va_end(arguments);
	return ret;
}

/* ---- modules */

static int find_modules(struct chooser *chooser)
{
	const struct preload_module *module;
	struct preload_loaded loaded;
	const char *name;
	uint32_t i;

	for (i = 0; i < chooser->layout->module_count; i++) {
		module = &chooser->layout->modules[i];
		name = module->soname ? module->soname : "the program";
		loaded.soname = module->soname;
		if (!preload_process__find(&loaded))
			return refuse(chooser, -ENOENT, "%.80s is not loaded", name);
		if (!module->build_id)
			return refuse(
				chooser, -EINVAL,
				"the layout does not name the build-id of %.80s, and its checks hold only while a program runs",
				name);
		if (strcmp(module->build_id, loaded.build_id))
			return refuse(chooser, -EINVAL,
				      "the layout is for the build-id %.40s, but %.80s has %.40s",
				      module->build_id, name,
				      *loaded.build_id ? loaded.build_id : "none");
		chooser->bases[i] = loaded.base;
	}
	return 0;
}

/* ---- pages */

static uintptr_t address_of(const struct chooser *chooser, const struct preload_field *field)
{
	return chooser->bases[field->module] + field->address;
}

static uint32_t length_of(const struct preload_field *field)
{
	return field->shown.width * field->shown.count;
}

/* The index of the first page that is not below @page. */
static size_t find_page(const struct chooser *chooser, uintptr_t page)
{
	size_t first = 0, end = chooser->page_count, middle;

	while (first < end) {
		middle = (first + end) / 2;
		if (chooser->pages[middle] < page)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static bool has_page(const struct chooser *chooser, uintptr_t page)
{
	const size_t at = find_page(chooser, page);

	return at < chooser->page_count && chooser->pages[at] == page;
}

/* Adds the pages of the field; false if they are too many. */
static bool add_pages(struct chooser *chooser, const struct preload_field *field)
{
	const uintptr_t first = address_of(chooser, field), size = chooser->zero->page;
	uintptr_t page;
	size_t at;

	for (page = first & -size; page < first + length_of(field); page += size) {
		if (has_page(chooser, page))
			continue;
		if (chooser->page_count == DART_REGISTRATION_MEMORY_PAGES_MAX)
			return false;
		at = find_page(chooser, page);
		memmove(&chooser->pages[at + 1], &chooser->pages[at],
			(chooser->page_count - at) * sizeof(*chooser->pages));
		chooser->pages[at] = page;
		chooser->page_count++;
	}
	return true;
}

static int choose_pages(struct chooser *chooser)
{
	const struct preload_entry *entry;
	uint32_t i;
	int ret;

	for (entry = chooser->layout->entries;
	     entry < chooser->layout->entries + chooser->layout->entry_count; entry++)
		for (i = 0; !entry->has_rows && i < entry->field_count; i++)
			if (!entry->fields[i].is_pointed_to &&
			    !add_pages(chooser, &entry->fields[i]))
				return refuse(
					chooser, -EFBIG,
					"the variables of the layout lie in more than %d pages",
					DART_REGISTRATION_MEMORY_PAGES_MAX);
	ret = preload_process__keep_writable(chooser->pages, chooser->page_count,
					     chooser->zero->page);
	if (ret < 0)
		return refuse(chooser, ret, "cannot read /proc/self/maps: %s", strerror(-ret));
	chooser->page_count = ret;
	return 0;
}

/* Pages side by side are one piece. */
static int make_pieces(struct chooser *chooser)
{
	struct dart_zero *zero = chooser->zero;
	struct dart_zero_piece *pieces = calloc(chooser->page_count, sizeof(*pieces)),
			       *last = pieces;
	size_t i;

	if (!pieces)
		return refuse(chooser, -ENOMEM, "out of memory");
	for (i = 0; i < chooser->page_count; i++) {
		if (i && chooser->pages[i] == chooser->pages[i - 1] + zero->page) {
			last->bytes += zero->page;
			continue;
		}
		last = &pieces[zero->piece_count++];
		*last = (struct dart_zero_piece){ (char *)chooser->pages[i], zero->page };
	}
	zero->pieces = pieces;
	return 0;
}

/* ---- objects */

/* True if controllers can READ the field where it lies. */
static bool is_shown(const struct chooser *chooser, const struct preload_field *field)
{
	const uintptr_t first = address_of(chooser, field), size = chooser->zero->page;
	uintptr_t page;

	for (page = first & -size; page < first + length_of(field); page += size)
		if (!has_page(chooser, page))
			return false;
	return true;
}

static void leave_out(struct chooser *chooser, const char *name)
{
	chooser->example = name;
	chooser->left_out++;
}

static int by_offset(const void *a, const void *b)
{
	const struct dart_zero_field *first = a, *second = b;

	return (first->offset > second->offset) - (first->offset < second->offset);
}

/* Two names of one variable: dartd takes the first. */
static uint32_t drop_overlapping(struct chooser *chooser, struct dart_zero_field *fields,
				 uint32_t count)
{
	uint32_t kept = 0, i;

	for (i = 0; i < count; i++) {
		if (kept &&
		    fields[i].offset < fields[kept - 1].offset +
					       fields[kept - 1].width * fields[kept - 1].count)
			leave_out(chooser, fields[i].name);
		else
			fields[kept++] = fields[i];
	}
	return kept;
}

/* Copies the fields of @entry that are shown, with their offsets in the memfd, to @fields. */
static uint32_t take_fields(struct chooser *chooser, const struct preload_entry *entry,
			    struct dart_zero_field *fields)
{
	const size_t size = chooser->zero->page;
	const struct preload_field *field;
	uint32_t count = 0;
	uintptr_t address;

	for (field = entry->fields; field < entry->fields + entry->field_count; field++) {
		if (field->is_pointed_to)
			continue;
		if (!is_shown(chooser, field)) {
			leave_out(chooser, field->shown.name);
			continue;
		}
		address = address_of(chooser, field);
		fields[count] = field->shown;
		fields[count++].offset =
			find_page(chooser, address & -size) * size + address % size;
	}
	qsort(fields, count, sizeof(*fields), by_offset);
	return drop_overlapping(chooser, fields, count);
}

/* True if an object has some of the bytes already. */
static bool is_taken(const struct dart_zero *zero, uint32_t offset, uint32_t length)
{
	const struct dart_zero_object *object;

	TAILQ_FOREACH(object, &zero->lists[ZERO_WAITING], link)
		if (offset < object->offset + object->type->length &&
		    object->offset < offset + length)
			return true;
	return false;
}

/* Makes the object of @entry, with @type and its fields after it. */
static struct dart_zero_object *new_object(const struct preload_entry *entry)
{
	struct dart_zero_object *object = calloc(1, sizeof(*object) + strlen(entry->name) + 1);
	struct dart_zero_type *type =
		calloc(1, sizeof(*type) + entry->field_count * sizeof(*type->fields));

	if (!object || !type) {
		free(object);
		free(type);
		return NULL;
	}
	type->name = entry->name;
	type->fields = (struct dart_zero_field *)(type + 1);
	object->type = type;
	strcpy(object->name, entry->name);
	return object;
}

static int add_object(struct chooser *chooser, const struct preload_entry *entry)
{
	struct dart_zero_object *object = new_object(entry);
	struct dart_zero *zero = chooser->zero;
	const struct dart_zero_field *last;
	struct dart_zero_field *fields;
	struct dart_zero_type *type;
	uint32_t i;

	if (!object)
		return refuse(chooser, -ENOMEM, "out of memory");
	type = (struct dart_zero_type *)object->type;
	fields = (struct dart_zero_field *)(type + 1);
	type->field_count = take_fields(chooser, entry, fields);
	if (!type->field_count)
		goto drop;
	object->offset = fields[0].offset / DART_ZERO_UNIT * DART_ZERO_UNIT;
	last = &fields[type->field_count - 1];
	type->length = last->offset + last->width * last->count - object->offset;
	for (i = 0; i < type->field_count; i++)
		fields[i].offset -= object->offset;
	/* A place in the memory belongs to one entry. */
	if (is_taken(zero, object->offset, type->length)) {
		leave_out(chooser, entry->name);
		goto drop;
	}
	TAILQ_INSERT_TAIL(&zero->lists[ZERO_WAITING], object, link);
	zero->counts[ZERO_WAITING]++;
	return 0;
drop:
	free(type);
	free(object);
	return 0;
}

int preload_pages__choose(const struct preload_layout *layout, struct dart_zero *zero,
			  const char **example, char reason[static PRELOAD_REASON_MAX])
{
	struct chooser chooser = { .layout = layout, .zero = zero, .reason = reason };
	uint32_t i;
	int ret;

	ret = find_modules(&chooser);
	if (!ret)
		ret = choose_pages(&chooser);
	for (i = 0; !ret && i < layout->entry_count; i++)
		if (!layout->entries[i].has_rows)
			ret = add_object(&chooser, &layout->entries[i]);
	if (!ret && !zero->counts[ZERO_WAITING])
		ret = refuse(
			&chooser, -ENODATA,
			"no value of its layout lies in variables that it writes (dartctl application add gathers values behind pointers)");
	if (!ret)
		ret = make_pieces(&chooser);
	*example = chooser.example;
	return ret ? ret : chooser.left_out;
}
