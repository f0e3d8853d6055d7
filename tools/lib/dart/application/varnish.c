// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shared memory of varnishd (vsm) and its statistics (vsc), from Varnish 6.0 on.
 *
 * A directory has files with segments and the text file _.index, which names them, one a line:
 * "+ FILE OFFSET BYTES CLASS NAME".  A line with '-' takes a segment back.  A segment of class Stat
 * begins with a head and has counters of 8 bytes after it; the segment of class StatDoc with the
 * same number in its head describes them in JSON.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>

#include "described_internal.h"
#include "document_internal.h"

/* Offsets in the head of a segment. */
#define READY_AT 0 /* 1: from the end of its construction until it dies */
#define BODY_OFFSET_AT 8 /* bytes from the head */
#define DOCUMENT_AT 16 /* a number that segments and their document share */
#define HEAD_LENGTH 24

#define INDEX_MAX (1 << 20) /* bytes */
#define LINES_MAX 4096
#define DOCUMENT_MAX (1 << 20) /* bytes */
#define NAME_MAX_LENGTH 255 /* characters of a part of a line */

/* A line of the index, whose file is mapped. */
struct segment {
	struct dart_mapped mapped;
	const struct dart_varnish_file *file;
	uint64_t offset; /* in the file */
	bool is_document;
	char *name;
};

struct varnish {
	const struct dart_varnish_file *files;
	size_t file_count;
	struct segment *segments;
	uint32_t segment_count;
	struct dart_application_layout *layout;
};

/* ---- the index */

static const struct dart_varnish_file *find_file(const struct varnish *varnish, const char *name)
{
	size_t i;

	for (i = 0; i < varnish->file_count; i++)
		if (!strcmp(varnish->files[i].name, name))
			return &varnish->files[i];
	return NULL;
}

static void remove_segment(struct varnish *varnish, const struct dart_varnish_file *file,
			   uint64_t offset)
{
	struct segment *segment;
	uint32_t i;

	for (i = 0; i < varnish->segment_count; i++) {
		segment = &varnish->segments[i];
		if (segment->file != file || segment->offset != offset)
			continue;
		free(segment->name);
		*segment = varnish->segments[--varnish->segment_count];
		return;
	}
}

static int add_segment(struct varnish *varnish, const struct segment *segment,
		       struct dart_error *error)
{
	struct segment *segments;

	if (varnish->segment_count == DART_VARNISH_SEGMENTS_MAX)
		return dart_error__set(error, E2BIG,
				       "varnishd has more than %d segments with statistics",
				       DART_VARNISH_SEGMENTS_MAX);
	segments =
		dart_document__grow(varnish->segments, varnish->segment_count, sizeof(*segments));
	if (!segments)
		return dart_error__no_memory(error);
	varnish->segments = segments;
	segments += varnish->segment_count;
	*segments = *segment;
	segments->name = strdup(segment->name);
	if (!segments->name)
		return dart_error__no_memory(error);
	varnish->segment_count++;
	return 0;
}

/* Takes a line without its end.  Lines of another form, as a later version may write, are skipped. */
static int take_line(struct varnish *varnish, const char *line, struct dart_error *error)
{
	char file[NAME_MAX_LENGTH + 1], class[NAME_MAX_LENGTH + 1], name[NAME_MAX_LENGTH + 1];
	struct segment segment = { .name = name };
	uint64_t length;
	char sign;

	if (sscanf(line, "%c %255s %20" SCNu64 " %20" SCNu64 " %255s %255[^\n]", &sign, file,
		   &segment.offset, &length, class, name) != 6)
		return 0;
	if (!dart_text__is_valid(name))
		return 0;
	segment.file = find_file(varnish, file);
	segment.is_document = !strcmp(class, "StatDoc");
	if (!segment.file || (!segment.is_document && strcmp(class, "Stat")))
		return 0;
	if (sign == '-')
		remove_segment(varnish, segment.file, segment.offset);
	if (sign != '+')
		return 0;
	if (length < HEAD_LENGTH || segment.offset % sizeof(uint64_t) ||
	    !dart_mapped__holds(&segment.file->mapped, segment.offset, 1, length))
		return dart_error__set(error, ENOEXEC,
				       "segment '%s' of varnishd has %" PRIu64
				       " bytes at offset %" PRIu64
				       " of '%s', which do not lie in its %zu bytes",
				       name, length, segment.offset, file,
				       segment.file->mapped.length);
	segment.mapped = (struct dart_mapped){
		.bytes = segment.file->mapped.bytes + segment.offset,
		.length = length,
		.address = segment.file->mapped.address + segment.offset,
	};
	return add_segment(varnish, &segment, error);
}

static int take_index(struct varnish *varnish, const char *index, size_t length,
		      struct dart_error *error)
{
	char *copy, *line, *next;
	uint32_t count = 0;
	int ret = 0;

	if (length > INDEX_MAX)
		return dart_error__set(error, E2BIG, "the index of varnishd has more than %d bytes",
				       INDEX_MAX);
	copy = strndup(index, length);
	if (!copy)
		return dart_error__no_memory(error);
	/* varnishd may be writing the last line: without its end it does not count. */
	for (line = copy; !ret && (next = strchr(line, '\n')); line = next + 1) {
		*next = '\0';
		ret = ++count > LINES_MAX ?
			      dart_error__set(error, E2BIG,
					      "the index of varnishd has more than %d lines",
					      LINES_MAX) :
			      take_line(varnish, line, error);
	}
	free(copy);
	return ret;
}

/* ---- segments */

static bool is_ready(const struct segment *segment)
{
	return segment->mapped.bytes[READY_AT] == 1;
}

/* The bytes after the head; false if the head tells of more than the segment has. */
static bool find_body(const struct segment *segment, struct dart_mapped *body)
{
	const uint64_t offset = dart_mapped__u64(&segment->mapped, BODY_OFFSET_AT);

	if (offset < HEAD_LENGTH || offset > segment->mapped.length)
		return false;
	*body = (struct dart_mapped){
		.bytes = segment->mapped.bytes + offset,
		.length = segment->mapped.length - offset,
		.address = segment->mapped.address + offset,
	};
	return true;
}

/* Loads the JSON of the document with @number: NULL if none is there, or it is malformed. */
static json_t *load_document(const struct varnish *varnish, uint64_t number)
{
	const struct segment *segment;
	struct dart_mapped body;
	json_error_t why;
	uint32_t i;

	for (i = 0; i < varnish->segment_count; i++) {
		segment = &varnish->segments[i];
		if (!segment->is_document || !is_ready(segment) ||
		    dart_mapped__u64(&segment->mapped, DOCUMENT_AT) != number ||
		    !find_body(segment, &body) || body.length > DOCUMENT_MAX)
			continue;
		return dart_json__loadb((const char *)body.bytes,
					strnlen((const char *)body.bytes, body.length), 0, &why);
	}
	return NULL;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key)) ?: "";
}

static const char *unit_of(const json_t *element)
{
	const char *format = text_of(element, "format");

	if (!strcmp(format, "bytes"))
		return "bytes";
	return strcmp(format, "duration") ? "" : "s";
}

/* ---- entries */

static int add_element(struct dart_application_layout *layout, struct dart_entry_draft *draft,
		       const struct dart_mapped *body, const char *name, const json_t *element,
		       struct dart_error *error)
{
	const json_t *index = json_object_get(element, "index");
	const struct dart_field field = {
		.name = (char *)name,
		.unit = (char *)unit_of(element),
		.kind = strcmp(text_of(element, "type"), "counter") ? DART_CONTROL_FIELD_GAUGE :
								      DART_CONTROL_FIELD_COUNTER,
		.width = 8,
	};

	if (!json_is_integer(index) || json_integer_value(index) < 0 ||
	    !dart_mapped__holds(body, json_integer_value(index), 1, field.width))
		return dart_error__set(error, ENOEXEC,
				       "value '%s' of varnishd lies outside of its segment", name);
	if (strcmp(text_of(element, "ctype"), "uint64_t")) {
		layout->left_out++;
		return 0;
	}
	return dart_described__add(layout, draft, body, json_integer_value(index), &field, error);
}

/* "VBE.boot.default", the name of a segment, has the instance "boot.default"; "MAIN" has none. */
static const char *instance_of(const struct segment *segment)
{
	const char *dot = strchr(segment->name, '.');

	return dot && dot[1] ? dot + 1 : NULL;
}

static bool has_entry(const struct dart_application_layout *layout, const char *name,
		      const char *instance)
{
	const struct dart_application_entry *entry;
	uint32_t i;

	for (i = 0; i < layout->entry_count; i++) {
		entry = &layout->entries[i];
		if (!strcmp(entry->schema->name, name) &&
		    !strcmp(entry->instance ?: "", instance ?: ""))
			return true;
	}
	return false;
}

static int add_entry(struct varnish *varnish, const struct segment *segment, const json_t *document,
		     struct dart_error *error)
{
	json_t *elements = json_object_get(document, "elem"), *element;
	const char *kind = text_of(document, "name"), *name;
	struct dart_entry_draft draft = {};
	char entry[DART_CONTROL_NAME_MAX];
	struct dart_mapped body;
	int ret = 0;

	if (!find_body(segment, &body))
		return dart_error__set(error, ENOEXEC,
				       "segment '%s' of varnishd has its values outside of it",
				       segment->name);
	if (strlen(kind) > NAME_MAX_LENGTH / 2 || !dart_name__is_valid(kind))
		return dart_error__set(error, ENOEXEC,
				       "the kind of segment '%s' of varnishd is not a name",
				       segment->name);
	snprintf(entry, sizeof(entry), "varnish:%s", kind);
	if (has_entry(varnish->layout, entry, instance_of(segment)))
		return dart_error__set(error, ENOEXEC, "two segments of varnishd are called '%s'",
				       segment->name);
	json_object_foreach(elements, name, element) {
		ret = add_element(varnish->layout, &draft, &body, name, element, error);
		if (ret)
			break;
	}
	if (!ret && draft.field_count) {
		ret = dart_described__check(varnish->layout, &segment->mapped, READY_AT, 1, error);
		if (!ret)
			ret = dart_described__check(varnish->layout, &segment->mapped, DOCUMENT_AT,
						    8, error);
	}
	if (!ret)
		ret = dart_described__finish(varnish->layout, &draft, entry, instance_of(segment),
					     NULL, error);
	dart_entry_draft__clear(&draft);
	return ret;
}

static int add_entries(struct varnish *varnish, struct dart_error *error)
{
	const struct segment *segment;
	json_t *document = NULL;
	uint64_t number, last = 0;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < varnish->segment_count; i++) {
		segment = &varnish->segments[i];
		if (segment->is_document || !is_ready(segment))
			continue;
		/* Segments of a kind follow each other. */
		number = dart_mapped__u64(&segment->mapped, DOCUMENT_AT);
		if (!document || number != last) {
			json_decref(document);
			document = load_document(varnish, number);
			last = number;
		}
		ret = document ? add_entry(varnish, segment, document, error) :
				 dart_error__set(error, ENOEXEC,
						 "segment '%s' of varnishd has no description",
						 segment->name);
	}
	json_decref(document);
	if (!ret && !varnish->layout->entry_count)
		ret = dart_error__set(
			error, EAGAIN,
			"varnishd has no statistics (yet) in the files it has mapped");
	return ret;
}

int dart_varnish__describe(const char *index, size_t index_length,
			   const struct dart_varnish_file *files, size_t file_count,
			   struct dart_application_layout **result, struct dart_error *error)
{
	struct varnish varnish = { .files = files, .file_count = file_count };
	uint32_t i;
	int ret;

	varnish.layout = dart_described__new("Varnish");
	if (!varnish.layout)
		return dart_error__no_memory(error);
	ret = take_index(&varnish, index, index_length, error);
	if (!ret)
		ret = add_entries(&varnish, error);
	for (i = 0; i < varnish.segment_count; i++)
		free(varnish.segments[i].name);
	free(varnish.segments);
	if (ret)
		dart_application_layout__free(varnish.layout);
	else
		*result = varnish.layout;
	return ret;
}
