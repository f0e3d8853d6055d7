// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads and writes files of journals, see dart_journals(5), and builds frames of batches. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "journal_target.h"

/* UDP source ports of lists. */
#define PORTS 1024

static int take_geometry(json_t *json, size_t others, struct dart_journal_target *target,
			 struct dart_error *error)
{
	struct dart_journal_geometry *geometry = &target->geometry;
	json_int_t numbers[4];
	json_error_t reason;
	size_t i;

	if (json_unpack_ex(json, &reason, 0, "{s:I, s:I, s:I, s:I}", "lists_log2", &numbers[0],
			   "batches_log2", &numbers[1], "batch_log2", &numbers[2], "entry_length",
			   &numbers[3]))
		return dart_error__set(error, EINVAL, "%s", reason.text);
	if (others != 4)
		return dart_error__set(error, EINVAL, "it has members that no journal has");
	for (i = 0; i < 4; i++)
		if (numbers[i] < 0 || numbers[i] > UINT8_MAX)
			return dart_error__set(error, EINVAL,
					       "a journal cannot have this geometry");
	*geometry = (struct dart_journal_geometry){
		.parts = 1,
		.lists_log2 = numbers[0],
		.batches_log2 = numbers[1],
		.batch_log2 = numbers[2],
		.entry_length = numbers[3],
	};
	if (dart_journal_geometry__check(geometry))
		return dart_error__set(error, EINVAL, "a journal cannot have this geometry");
	if (target->collector.base > UINT64_MAX - dart_journal_geometry__length(geometry))
		return dart_error__set(error, EINVAL, "the journal ends beyond all addresses");
	return 0;
}

static int take_target(json_t *json, struct dart_journal_target *target, struct dart_error *error)
{
	size_t others;

	*target = (struct dart_journal_target){};
	return dart_collector__take_path(json, &target->collector, &others, error) ?:
		       take_geometry(json, others, target, error);
}

/* Takes the only element for @address. */
static int take_list(json_t *list, const char *path, struct in_addr address,
		     struct dart_journal_target *target, struct dart_error *error)
{
	struct dart_journal_target one;
	struct dart_error reason;
	char text[INET_ADDRSTRLEN];
	json_t *json;
	int found = 0;
	size_t i;

	json_array_foreach(list, i, json) {
		if (take_target(json, &one, &reason))
			return dart_error__set(error, EINVAL, "%s: journals[%zu]: %s", path, i,
					       reason.text);
		if (address.s_addr != INADDR_ANY && one.collector.reporter.s_addr != address.s_addr)
			continue;
		*target = one;
		found++;
	}
	if (found == 1)
		return 0;
	if (found)
		return dart_error__set(
			error, EINVAL,
			"%s: several journals or appenders (give the address of one)", path);
	inet_ntop(AF_INET, &address, text, sizeof(text));
	return dart_error__set(
		error, ENOENT,
		"%s: no journal takes entries from %s (dartctl appender add, then journal export)",
		path, address.s_addr == INADDR_ANY ? "any address" : text);
}

int dart_journal_target__load(const char *path, struct in_addr address,
			      struct dart_journal_target *target, struct dart_error *error)
{
	json_t *root, *list;
	int version, ret;

	ret = dart_collectors__read(path, &root, error);
	if (ret)
		return ret;
	if (json_unpack(root, "{s:i, s:o !}", "dart_journals", &version, "journals", &list) ||
	    version != 1 || !json_is_array(list))
		ret = dart_error__set(
			error, EINVAL,
			"%s: not a file of journals, version 1 (see 'dartctl journal export')",
			path);
	else
		ret = take_list(list, path, address, target, error);
	json_decref(root);
	return ret;
}

json_t *dart_journal_target__to_json(const struct dart_journal_target *target)
{
	const struct dart_journal_geometry *geometry = &target->geometry;
	json_t *json = dart_collector__path_to_json(&target->collector);
	json_t *more = json_pack("{s:I, s:I, s:I, s:I}", "lists_log2",
				 (json_int_t)geometry->lists_log2, "batches_log2",
				 (json_int_t)geometry->batches_log2, "batch_log2",
				 (json_int_t)geometry->batch_log2, "entry_length",
				 (json_int_t)geometry->entry_length);

	if (json_object_update(json, more)) {
		json_decref(json);
		json = NULL;
	}
	json_decref(more);
	return json;
}

size_t dart_journal_target__frame(const struct dart_journal_target *target,
				  const uint8_t source_mac[ETH_ALEN], uint32_t list,
				  const struct dart_journal_write *write, uint32_t psn,
				  uint8_t frame[DART_JOURNAL_FRAME_MAX])
{
	memcpy(frame + sizeof(struct dart_roce_headers), write->bytes, write->length);
	return dart_roce_frame__complete(&target->collector, source_mac,
					 DART_STORE_UDP_SOURCE_BASE + list % PORTS,
					 target->collector.base + write->offset, write->length, psn,
					 frame);
}
