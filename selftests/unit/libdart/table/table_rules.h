/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules of <dart/control.h> as tests: bytes of the sample table that break one
 * rule only, with a valid checksum, are refused with the message that names it.
 */
#ifndef TABLE_RULES_H
#define TABLE_RULES_H

#include <errno.h>

#include <libdart/table/table_format_internal.h>

#include "sample.h"

/* Overwrites one member of an element of a section, or of the header. */
struct patch {
	enum { NOTHING, HEADER, ELEMENT } what;
	enum dart_section section;
	uint32_t index;
	size_t offset;
	size_t size;
	uint64_t value;
};

struct rule {
	const char *sentence;	/* that TAP prints */
	const char *message;	/* part of the refusal */
	struct patch patches[3];
	int err;
	bool unsealed;		/* the checksum is not updated */
};

#define RULE(behaviour, words, ...) { \
	.sentence = behaviour, .message = words, .patches = { __VA_ARGS__ }, \
	.err = -EBADMSG }
#define UNSEALED(behaviour, words, error, ...) { \
	.sentence = behaviour, .message = words, .patches = { __VA_ARGS__ }, \
	.err = error, .unsealed = true }

#define SIZE(type, member) sizeof(((struct type *)NULL)->member)
#define IN(which, type, number, member, new_value) { \
	.what = ELEMENT, .section = DART_SECTION_##which, .index = number, \
	.offset = offsetof(struct type, member), \
	.size = SIZE(type, member), .value = new_value }

#define HEAD(member, new_value) { \
	.what = HEADER, \
	.offset = offsetof(struct dart_control_header, member), \
	.size = SIZE(dart_control_header, member), .value = new_value }
#define REGION(...) IN(MEMORY_REGIONS, dart_control_memory_region, __VA_ARGS__)
#define ENTRY(...) IN(ENTRIES, dart_control_entry, __VA_ARGS__)
#define RANGE(...) IN(RANGES, dart_control_range, __VA_ARGS__)
#define SCHEMA(...) IN(SCHEMAS, dart_control_schema, __VA_ARGS__)
#define FIELD(...) IN(FIELDS, dart_control_field, __VA_ARGS__)
#define STRING(at, byte) { \
	.what = ELEMENT, .section = DART_SECTION_STRINGS, .index = at, \
	.size = 1, .value = byte }

#define NODE_NAME(at, byte) { \
	.what = HEADER, \
	.offset = offsetof(struct dart_control_header, node_name) + at, \
	.size = 1, .value = byte }
#define CPU_SET(set, value_of_word) { \
	.what = ELEMENT, .section = DART_SECTION_CPU_SETS, .index = set, \
	.size = 8, .value = value_of_word }

static inline void patch__apply(const struct patch *patch, uint8_t *bytes)
{
	const struct dart_control_header *header = (void *)bytes;
	const struct dart_control_section sections[DART_SECTIONS] = {
		header->memory_regions, header->entries, header->ranges,   header->schemas,
		header->fields,		header->strings, header->cpu_sets,
	};
	size_t at = patch->offset;

	if (patch->what == ELEMENT) {
		assert_in_range(patch->index, 0, sections[patch->section].count - 1);
		at += sections[patch->section].offset +
		      patch->index * dart_section_element[patch->section];
	}
	assert_memory_not_equal(bytes + at, &patch->value, patch->size);
	memcpy(bytes + at, &patch->value, patch->size);
}

static inline void bytes__expect(uint8_t *bytes, size_t length, int err, const char *message)
{
	struct dart_table *table = NULL;
	struct dart_error error;

	assert_int_equal(dart_table__decode(bytes, length, &table, NULL, &error), err);
	assert_null(table);
	if (!strstr(error.text, message))
		fail_msg("\"%s\" instead of \"%s\"", error.text, message);
}

static inline void rule__check(void **state)
{
	const struct rule *rule = *state;
	struct sample sample;
	uint8_t *bytes;
	size_t length;
	int i;

	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	for (i = 0; i < 3 && rule->patches[i].what != NOTHING; i++)
		patch__apply(&rule->patches[i], bytes);
	if (!rule->unsealed)
		sample__seal(bytes, length);
	bytes__expect(bytes, length, rule->err, rule->message);
	free(bytes);
	sample__release(&sample);
}

static inline struct CMUnitTest rule__test(const struct rule *rule)
{
	return (struct CMUnitTest) {
		.name = rule->sentence,
		.test_func = rule__check,
		.initial_state = (void *)rule,
	};
}

#endif /* TABLE_RULES_H */
