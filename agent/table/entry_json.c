// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <libdart/table/value.h>

#include "entry_json.h"
#include "live.h"

/* Bytes of an entry that are looked at, those of empty rows among them. */
#define COPIES_MAX (16 << 20)
/* Bytes of an entry that are shown; as JSON they are many times more. */
#define VALUES_MAX (1 << 20)

static uint32_t memory_regions(const struct agent *agent,
			       const struct entry *entry)
{
	if (agent->exposure.mode == DART_CONTROL_EXPOSURE_PAGE)
		return 1;
	return entry->memory_region_count;
}

/* Bytes of the values that controllers can read. */
static uint64_t exposed_bytes(const struct entry *entry)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < entry->run_count; i++)
		bytes += entry->runs[i].length;
	return bytes * entry->extent.copies;
}

json_t *describe__entry(const struct agent *agent, const struct entry *entry)
{
	json_t *json;

	json = json_pack("{s:s, s:s, s:I, s:s, s:I, s:I, s:I, s:I}",
			 "name", entry->name,
			 "kind", dart_entry_kind__name(entry->kind),
			 "copies", (json_int_t)entry->extent.copies,
			 "copies_are",
			 entry->copies_are == DART_CONTROL_COPIES_CPU ? "cpu" :
									"row",
			 "length", (json_int_t)entry->schema->length,
			 "fields", (json_int_t)entry->schema->field_count,
			 "memory_regions",
			 (json_int_t)memory_regions(agent, entry),
			 "bytes", (json_int_t)exposed_bytes(entry));
	if (json && entry->extent.map_id)
		json_object_set_new(json, "map_id",
				    json_integer(entry->extent.map_id));
	if (json && entry->extent.counters_id)
		json_object_set_new(json, "counters_id",
				    json_integer(entry->extent.counters_id));
	return json;
}

json_t *describe__follow(const struct follower *follower)
{
	return json_pack("{s:s, s:s, s:I, s:I}", "name", follower->name, "kind",
			 "follow", "entries",
			 (json_int_t)follower__entries(follower), "failures",
			 (json_int_t)follower->failures);
}

json_t *describe__entries(const struct agent *agent)
{
	json_t *entries = json_array();
	const struct follower *follower;
	const struct entry *entry;

	if (!entries)
		return NULL;
	TAILQ_FOREACH(entry, &agent->registry.entries, link)
		if (json_array_append_new(entries,
					  describe__entry(agent, entry)))
			goto release;
	TAILQ_FOREACH(follower, &agent->followers.list, link)
		if (json_array_append_new(entries, describe__follow(follower)))
			goto release;
	return entries;

release:
	json_decref(entries);
	return NULL;
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

static int too_many(const struct entry *entry, size_t bytes, size_t most,
		    struct dart_error *error)
{
	return dart_error__set(
		error, EFBIG,
		"'%s' has %zu bytes, too many to show (more than %zu)",
		entry->name, bytes, most);
}

int describe__values(const struct agent *agent, const struct entry *entry,
		     json_t **values, struct dart_error *error)
{
	struct dart_entry shown;
	uint8_t *copies;
	size_t size;
	int ret = 0;

	if (control_region__entry(&agent->exposure, entry, &shown))
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
	live__copy(&shown, copies);
	size = shown_bytes(&shown, copies);
	if (size > VALUES_MAX) {
		ret = too_many(entry, size, VALUES_MAX, error);
		goto free_copies;
	}
	*values = json_pack("{s:s, s:o, s:o}", "name", entry->name,
			    "values", dart_entry__to_json(&shown, copies),
			    "schema", dart_schema__to_json(entry->schema));

free_copies:
	free(copies);
free_ranges:
	free(shown.ranges);
	return ret;
}

static json_t *controllers(const struct agent *agent)
{
	const struct connection *connection;
	json_t *peers = json_array();

	if (!peers)
		return NULL;
	TAILQ_FOREACH(connection, &agent->listener.connections, link) {
		if (connection->is_established && !connection->store &&
		    json_array_append_new(peers,
					  json_string(connection->peer))) {
			json_decref(peers);
			return NULL;
		}
	}
	return peers;
}

json_t *describe__status(const struct agent *agent)
{
	bool is_page = agent->exposure.mode == DART_CONTROL_EXPOSURE_PAGE;
	const struct entry *entry;
	json_int_t entries = 0, own = 0;
	uint32_t extents = 0;
	uint64_t used = 0;
	char instance[17];

	TAILQ_FOREACH(entry, &agent->registry.entries, link) {
		entries++;
		own += entry->memory_region_count;
	}
	region__fill(&agent->region, &extents, &used);
	/* As text: JSON has no integers that wide. */
	snprintf(instance, sizeof(instance), "%016llx",
		 (unsigned long long)agent->control_region.instance);

	return json_pack(
		"{s:s, s:I, s:s, s:I, s:s, s:s, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I}",
		"version", DART_VERSION, "pid", (json_int_t)getpid(),
		"exposure", dart_exposure__name(agent->exposure.mode),
		"generation", (json_int_t)agent->control_region.generation,
		"instance", instance, "device", device__name(&agent->device),
		"port", (json_int_t)agent->options.port, "cpus",
		(json_int_t)agent->region.cpus, "lease_ms",
		(json_int_t)LEASE_MS, "controllers", controllers(agent),
		"entries", entries, "memory_regions",
		is_page ? (json_int_t) !!agent->exposure.page : own, "leases",
		(json_int_t)leases__count(&agent->leases), "extents",
		(json_int_t)extents, "capacity",
		(json_int_t)agent->region.capacity, "used", (json_int_t)used);
}
