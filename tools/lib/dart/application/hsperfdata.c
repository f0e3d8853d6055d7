// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The performance counters of a Java virtual machine, in the file /tmp/hsperfdata_USER/PID:
 * perfMemory.hpp and perfData.hpp of HotSpot, version 2.0.
 *
 * A prologue of 32 bytes is followed by entries: 20 bytes, a name, and the value, which never
 * moves.  The machine appends entries and then raises their number.
 */
#include <errno.h>
#include <string.h>

#include "described_internal.h"

static const uint8_t magic[] = { 0xca, 0xfe, 0xc0, 0xc0 };

/* Offsets in the prologue; multi-byte numbers are in the byte order of the machine. */
#define BYTE_ORDER_AT 4 /* 1: little-endian */
#define MAJOR_AT 5
#define ACCESSIBLE_AT 7
#define USED_AT 8 /* bytes */
#define ENTRIES_OFFSET_AT 24 /* bytes */
#define ENTRY_COUNT_AT 28
#define PROLOGUE_LENGTH 32

/* Offsets in an entry. */
#define LENGTH_AT 0 /* bytes, from this entry to the next one */
#define NAME_OFFSET_AT 4 /* bytes from the entry */
#define VECTOR_LENGTH_AT 8 /* elements; 0: one value */
#define TYPE_AT 12
#define UNITS_AT 14
#define VARIABILITY_AT 15
#define DATA_OFFSET_AT 16 /* bytes from the entry */
#define ENTRY_LENGTH 20

#define VARIABILITY_MONOTONIC 2

bool dart_hsperfdata__begins(const uint8_t *bytes, size_t length)
{
	return length >= PROLOGUE_LENGTH && !memcmp(bytes, magic, sizeof(magic));
}

static int check_prologue(const struct dart_mapped *mapped, struct dart_error *error)
{
	const uint8_t *bytes = mapped->bytes;

	if (!dart_hsperfdata__begins(bytes, mapped->length))
		return dart_error__set(error, ENOEXEC,
				       "the memory does not begin as hsperfdata does");
	if (bytes[BYTE_ORDER_AT] != 1 || bytes[MAJOR_AT] != 2)
		return dart_error__set(
			error, ENOEXEC,
			"hsperfdata of version %u and byte order %u is unknown (only 2 and 1 are known)",
			bytes[MAJOR_AT], bytes[BYTE_ORDER_AT]);
	if (!bytes[ACCESSIBLE_AT])
		return dart_error__set(error, EAGAIN,
				       "the Java virtual machine has not finished its start");
	if (dart_mapped__u32(mapped, USED_AT) > mapped->length)
		return dart_error__set(
			error, ENOEXEC,
			"the Java virtual machine uses %u of %zu bytes of hsperfdata",
			dart_mapped__u32(mapped, USED_AT), mapped->length);
	return 0;
}

/* An entry, whose bytes lie inside the mapping. */
struct record {
	const char *name;
	uint64_t offset; /* of the entry */
	uint64_t length;
	uint64_t data; /* offset of the value in the mapping */
	uint32_t elements;
	char type;
	uint8_t units, variability;
};

static int take_record(const struct dart_mapped *mapped, uint64_t offset, uint32_t index,
		       struct record *record, struct dart_error *error)
{
	uint32_t name, data;

	*record = (struct record){ .name = "", .offset = offset };
	if (!dart_mapped__holds(mapped, offset, 1, ENTRY_LENGTH))
		return dart_error__set(error, ENOEXEC,
				       "entry %u of hsperfdata begins outside its %zu bytes", index,
				       mapped->length);
	record->length = dart_mapped__u32(mapped, offset + LENGTH_AT);
	if (record->length < ENTRY_LENGTH || !dart_mapped__holds(mapped, offset, 1, record->length))
		return dart_error__set(
			error, ENOEXEC,
			"entry %u of hsperfdata has %llu bytes, which do not lie in it", index,
			(unsigned long long)record->length);
	name = dart_mapped__u32(mapped, offset + NAME_OFFSET_AT);
	data = dart_mapped__u32(mapped, offset + DATA_OFFSET_AT);
	record->elements = dart_mapped__u32(mapped, offset + VECTOR_LENGTH_AT);
	record->type = mapped->bytes[offset + TYPE_AT];
	record->units = mapped->bytes[offset + UNITS_AT];
	record->variability = mapped->bytes[offset + VARIABILITY_AT];
	record->data = offset + data;
	record->name = name < record->length ?
			       dart_mapped__text(mapped, offset + name, record->length - name) :
			       NULL;
	if (!record->name || data > record->length)
		return dart_error__set(error, ENOEXEC,
				       "entry %u of hsperfdata has a name or a value outside of it",
				       index);
	return 0;
}

/* Does the value have @bytes bytes inside its entry? */
static bool record__holds(const struct record *record, uint64_t bytes)
{
	return bytes <= record->offset + record->length - record->data;
}

/* Ticks are nanoseconds on Linux; the machine tells how many of them a second has. */
static const char *unit_of_ticks(const struct dart_mapped *mapped, const struct record *record)
{
	if (strcmp(record->name, "sun.os.hrt.frequency") || record->type != 'J' ||
	    !record__holds(record, 8))
		return NULL;
	return dart_mapped__u64(mapped, record->data) == 1000000000 ? "ns" : "ticks";
}

static const char *unit_of(const struct record *record, const char *ticks)
{
	switch (record->units) {
	case 2:
		return "bytes";
	case 3:
		return ticks;
	case 6:
		return "Hz";
	default:
		return "";
	}
}

/* Passwords are often options of a command. */
static bool is_command_line(const char *name)
{
	return !strcmp(name, "java.rt.vmArgs") || !strcmp(name, "sun.rt.javaCommand");
}

static int add_value(struct dart_application_layout *layout, struct dart_entry_draft *draft,
		     const struct dart_mapped *mapped, const struct record *record,
		     const char *ticks, struct dart_error *error)
{
	const bool is_counter = record->variability == VARIABILITY_MONOTONIC;
	struct dart_field field = {
		.name = (char *)record->name,
		.unit = (char *)unit_of(record, ticks),
		.kind = is_counter ? DART_CONTROL_FIELD_COUNTER : DART_CONTROL_FIELD_GAUGE,
		.width = 8,
		.is_signed = !is_counter,
	};

	if (record->type == 'B' && record->elements) {
		field.kind = DART_CONTROL_FIELD_TEXT;
		field.unit = "";
		field.width = record->elements;
		field.is_signed = false;
	} else if (record->type != 'J' || record->elements) {
		layout->left_out++;
		return 0;
	}
	if (!record__holds(record, field.width))
		return dart_error__set(error, ENOEXEC,
				       "value '%s' of hsperfdata lies outside of its entry",
				       record->name);
	if (is_command_line(record->name)) {
		layout->left_out++;
		return 0;
	}
	return dart_described__add(layout, draft, mapped, record->data, &field, error);
}

static int take_records(struct dart_application_layout *layout, struct dart_entry_draft *draft,
			const struct dart_mapped *mapped, struct dart_error *error)
{
	const uint32_t count = dart_mapped__u32(mapped, ENTRY_COUNT_AT);
	uint64_t offset = dart_mapped__u32(mapped, ENTRIES_OFFSET_AT);
	const char *ticks = "ticks", *found;
	struct record record;
	uint32_t pass, i;
	int ret = 0;

	if (!dart_mapped__holds(mapped, offset, count, ENTRY_LENGTH))
		return dart_error__set(error, ENOEXEC,
				       "%u entries of hsperfdata do not fit into its %zu bytes",
				       count, mapped->length);
	/* The frequency may be the last entry, so it is looked for first. */
	for (pass = 0; !ret && pass < 2; pass++) {
		offset = dart_mapped__u32(mapped, ENTRIES_OFFSET_AT);
		for (i = 0; !ret && i < count; i++, offset += record.length) {
			ret = take_record(mapped, offset, i, &record, error);
			if (ret)
				break;
			found = unit_of_ticks(mapped, &record);
			ticks = found ?: ticks;
			if (pass)
				ret = add_value(layout, draft, mapped, &record, ticks, error);
		}
	}
	return ret;
}

int dart_hsperfdata__describe(const struct dart_mapped *mapped,
			      struct dart_application_layout **result, struct dart_error *error)
{
	struct dart_application_layout *layout;
	struct dart_entry_draft draft = {};
	int ret = check_prologue(mapped, error);

	if (ret)
		return ret;
	layout = dart_described__new("Java virtual machine");
	if (!layout)
		return dart_error__no_memory(error);
	ret = take_records(layout, &draft, mapped, error);
	if (!ret && !draft.field_count)
		ret = dart_error__set(error, EAGAIN,
				      "the Java virtual machine has no counters (yet)");
	/* Magic, byte order and version; the number of entries, which never falls. */
	if (!ret)
		ret = dart_described__check(layout, mapped, 0, 8, error);
	if (!ret)
		ret = dart_described__check(layout, mapped, ENTRY_COUNT_AT, 4, error);
	if (!ret)
		ret = dart_described__finish(layout, &draft, "jvm", NULL, NULL, error);
	dart_entry_draft__clear(&draft);
	if (ret)
		dart_application_layout__free(layout);
	else
		*result = layout;
	return ret;
}
