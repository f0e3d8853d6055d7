// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads and writes files of journals, see dart_journals(5), and builds frames of batches. */
#include <errno.h>
#include <string.h>

#include "journal_target.h"
#include "target_file.h"

/* UDP source ports of lists. */
#define PORTS 1024

static int take_geometry(json_t *json, size_t others, void *taken, struct dart_error *error)
{
	struct dart_journal_target *target = taken;
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

static const struct dart_target_kind kind = {
	.object = "journal",
	.objects = "journals",
	.part = "appender",
	.content = "entries",
	.size = sizeof(struct dart_journal_target),
	.take = take_geometry,
};

int dart_journal_target__load(const char *path, struct in_addr address,
			      struct dart_journal_target *target, struct dart_error *error)
{
	return dart_target_file__load(&kind, path, address, target, error);
}

json_t *dart_journal_target__to_json(const struct dart_journal_target *target)
{
	const struct dart_journal_geometry *geometry = &target->geometry;

	return dart_target_file__element(
		&target->collector,
		json_pack("{s:I, s:I, s:I, s:I}", "lists_log2", (json_int_t)geometry->lists_log2,
			  "batches_log2", (json_int_t)geometry->batches_log2, "batch_log2",
			  (json_int_t)geometry->batch_log2, "entry_length",
			  (json_int_t)geometry->entry_length));
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
