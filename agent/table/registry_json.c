// SPDX-License-Identifier: GPL-2.0-only
/* Entries, their values and the registry as JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/clock.h>
#include <libdart/table/value.h>

#include "live.h"
#include "registry_json.h"

/* Bytes of an entry that are examined, empty rows included. */
#define COPIES_MAX (16 << 20)
/* Bytes of an entry that are shown; as JSON they are many times more. */
#define VALUES_MAX (1 << 20)

/* Bytes of the values that controllers can read. */
static uint64_t exposed_bytes(const struct entry *entry)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < entry->run_count; i++)
		bytes += entry->runs[i].length;
	return bytes * entry->extent.copies;
}

/* The members of an entry, in their order. */
enum {
	MEMBER_NAME,
	MEMBER_KIND,
	MEMBER_COPIES,
	MEMBER_COPIES_ARE,
	MEMBER_LENGTH,
	MEMBER_FIELDS,
	MEMBER_MEMORY_REGIONS,
	MEMBER_BYTES,
	MEMBER_OWNER,
	MEMBER_AGE_S,
	MEMBER_MAP_ID,		/* 0: the entry lacks it */
	MEMBER_COUNTERS_ID,	/* likewise */
	MEMBERS,
};

#define KEY(before, name) { name, REPLY_KEY(before, name) }

static const struct {
	const char *name;
	struct reply_key key;
} keys[MEMBERS] = {
	KEY("{", "name"), KEY(",", "kind"), KEY(",", "copies"), KEY(",", "copies_are"),
	KEY(",", "length"), KEY(",", "fields"), KEY(",", "memory_regions"), KEY(",", "bytes"),
	KEY(",", "owner"), KEY(",", "age_s"), KEY(",", "map_id"), KEY(",", "counters_id"),
};

/* A text, or a number if @text is NULL. */
struct member {
	const char *text;
	uint64_t number;
};

/* @now: ns of CLOCK_BOOTTIME. */
static void describe(const struct entry *entry, int64_t now, struct member members[static MEMBERS])
{
	bool is_page = entry->registry->rooms.exposure->mode == DART_CONTROL_EXPOSURE_PAGE;

	members[MEMBER_NAME].text = entry->name;
	members[MEMBER_KIND].text = dart_entry_kind__name(entry->kind);
	members[MEMBER_COPIES].number = entry->extent.copies;
	members[MEMBER_COPIES_ARE].text = dart_copies__name(entry->copies_are);
	members[MEMBER_LENGTH].number = entry->schema->length;
	members[MEMBER_FIELDS].number = entry->schema->field_count;
	members[MEMBER_MEMORY_REGIONS].number =
		is_page && !entry->is_exact ? 1 : entry->memory_region_count;
	members[MEMBER_BYTES].number = exposed_bytes(entry);
	members[MEMBER_OWNER].number = entry->owner;
	members[MEMBER_AGE_S].number = (now - entry->registered) / 1000000000;
	members[MEMBER_MAP_ID].number = entry->extent.map_id;
	members[MEMBER_COUNTERS_ID].number = entry->extent.counters_id;
}

static bool has(const struct member *members, size_t i)
{
	return i < MEMBER_MAP_ID || members[i].number;
}

json_t *registry_json__entry(const struct entry *entry)
{
	struct member members[MEMBERS] = { };
	json_t *json = json_object();
	size_t i;

	describe(entry, dart_clock__ns(CLOCK_BOOTTIME), members);
	for (i = 0; i < MEMBERS; i++) {
		if (!has(members, i) ||
		    !json_object_set_new(json, keys[i].name,
					 members[i].text ? json_string(members[i].text) :
							   json_integer(members[i].number)))
			continue;
		json_decref(json);
		return NULL;
	}
	return json;
}

void registry_json__write(const struct entry *entry, int64_t now, struct reply_text *text)
{
	struct member members[MEMBERS] = { };
	size_t i;

	describe(entry, now, members);
	for (i = 0; i < MEMBERS; i++) {
		if (!has(members, i))
			continue;
		if (members[i].text)
			reply_text__string(text, &keys[i].key, members[i].text);
		else
			reply_text__integer(text, &keys[i].key, members[i].number);
	}
	reply_text__put(text, "}");
}

/* Bytes of the copies that are not empty. */
static size_t shown_bytes(const struct dart_entry *entry, const uint8_t *copies)
{
	size_t bytes = 0;
	uint32_t i;

	for (i = 0; i < entry->copies; i++) {
		if (dart_row__state(entry->schema, copies) != DART_ROW_EMPTY)
			bytes += entry->schema->length;
		copies += entry->schema->length;
	}
	return bytes;
}

static int too_many(const struct entry *entry, size_t bytes, size_t most, struct dart_error *error)
{
	return dart_error__set(error, EFBIG, "'%s' has %zu bytes, too many to show (more than %zu)",
			       entry->name, bytes, most);
}

/* CPUs of nohz_full= as text, which the caller frees; NULL if out of memory. */
static char *nohz_full_cpus(const struct control_region *control_region)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	dart_cpus__print(control_region->nohz_full, control_region->exposure->region->cpus, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* Tells which copies lag, if some do. */
static int add_nohz_full(json_t *values, const struct entry *entry)
{
	char *cpus;
	int ret = 0;

	if (!dart_schema__lags(entry->schema))
		return 0;
	cpus = nohz_full_cpus(entry->registry->rooms.control_region);
	if (!cpus)
		return -ENOMEM;
	if (*cpus)
		ret = json_object_set_new(values, "nohz_full", json_string(cpus));
	free(cpus);
	return ret;
}

int registry_json__values(const struct entry *entry, json_t **values, struct dart_error *error)
{
	struct dart_entry shown;
	uint8_t *copies;
	size_t size;
	int ret = 0;

	if (control_region__entry(entry->registry->rooms.exposure, entry, 0, &shown))
		return dart_error__no_memory(error);
	size = dart_entry__size(&shown);
	if (size > COPIES_MAX) {
		ret = too_many(entry, size, COPIES_MAX, error);
		goto free_ranges;
	}

	copies = malloc(size);
	if (!copies) {
		ret = dart_error__no_memory(error);
		goto free_ranges;
	}
	live__copy(entry->registry->rooms.exposure, &shown, copies);
	size = shown_bytes(&shown, copies);
	if (size > VALUES_MAX) {
		ret = too_many(entry, size, VALUES_MAX, error);
		goto free_copies;
	}
	*values = json_pack("{s:s, s:o, s:o}", "name", entry->name, "values",
			    dart_entry__to_json(&shown, copies), "schema",
			    dart_schema__to_json(entry->schema));
	if (*values && add_nohz_full(*values, entry)) {
		json_decref(*values);
		*values = NULL;
		ret = dart_error__no_memory(error);
	}

free_copies:
	free(copies);
free_ranges:
	free(shown.ranges);
	return ret;
}

json_t *registry_json__status(const struct registry *registry)
{
	const struct exposure *exposure = registry->rooms.exposure;
	const struct region *region = registry->rooms.region;
	bool is_page = exposure->mode == DART_CONTROL_EXPOSURE_PAGE;
	const struct entry *entry;
	json_int_t entries = 0, own = 0;
	struct dart_zero_info info = { };
	char instance[17];

	TAILQ_FOREACH(entry, &registry->inventory.entries, link) {
		entries++;
		own += entry->memory_region_count;
	}
	region__info(region, &info);
	/* As text: JSON has no integers that wide. */
	snprintf(instance, sizeof(instance), "%016llx",
		 (unsigned long long)registry->rooms.control_region->instance);

	return json_pack("{s:s, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s}", "exposure",
			 dart_exposure__name(exposure->mode), "generation",
			 (json_int_t)registry->rooms.control_region->generation, "instance",
			 instance, "cpus", (json_int_t)region->cpus, "lease_ms",
			 (json_int_t)LEASE_MS, "entries", entries, "memory_regions",
			 is_page ? (json_int_t) !!exposure->page : own, "leases",
			 (json_int_t)(leases__count(exposure->leases) +
				      registry->rooms.counts->lingering),
			 "extents",
			 (json_int_t)info.extents, "capacity", (json_int_t)region->capacity, "used",
			 (json_int_t)info.used, "windows",
			 !(info.flags & DART_ZERO_INFO_NO_WINDOWS), "gatherer",
			 region->way->name);
}
