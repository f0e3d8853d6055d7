// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads and writes files of sketches, see dart_sketches(5), and builds frames of strips. */
#include <errno.h>
#include <string.h>

#include "sketch_target.h"
#include "target_file.h"

/* UDP source ports of strips. */
#define PORTS 1024

static int take_geometry(json_t *json, size_t others, void *taken, struct dart_error *error)
{
	struct dart_sketch_target *target = taken;
	struct dart_sketch_geometry *geometry = &target->geometry;
	json_int_t rows, columns_log2, period;
	json_error_t reason;
	const char *kind;

	if (json_unpack_ex(json, &reason, 0, "{s:s, s:I, s:I, s:I}", "kind", &kind, "rows", &rows,
			   "columns_log2", &columns_log2, "period", &period))
		return dart_error__set(error, EINVAL, "%s", reason.text);
	if (others != 4)
		return dart_error__set(error, EINVAL, "it has members that no sketch has");
	if (rows < 0 || rows > UINT8_MAX || columns_log2 < 0 || columns_log2 > UINT8_MAX ||
	    period < 0 || period > DART_SKETCH_PERIOD_MAX || dart_sketch_kind__find(kind) < 0)
		return dart_error__set(error, EINVAL, "a sketch cannot have this geometry");
	*geometry = (struct dart_sketch_geometry){
		.parts = 1,
		.kind = dart_sketch_kind__find(kind),
		.rows = rows,
		.columns_log2 = columns_log2,
		.period = period,
	};
	if (dart_sketch_geometry__check(geometry))
		return dart_error__set(error, EINVAL, "a sketch cannot have this geometry");
	if (target->collector.base > UINT64_MAX - dart_sketch_geometry__length(geometry))
		return dart_error__set(error, EINVAL, "the sketch ends beyond all addresses");
	return 0;
}

static const struct dart_target_kind kind = {
	.object = "sketch",
	.objects = "sketches",
	.part = "sketcher",
	.content = "counters",
	.size = sizeof(struct dart_sketch_target),
	.take = take_geometry,
};

int dart_sketch_target__load(const char *path, struct in_addr address,
			     struct dart_sketch_target *target, struct dart_error *error)
{
	return dart_target_file__load(&kind, path, address, target, error);
}

int dart_sketch_target__load_all(const char *path,
				 struct dart_sketch_target targets[DART_SKETCH_PARTS_MAX],
				 uint32_t *count, struct dart_error *error)
{
	return dart_target_file__load_all(&kind, path, targets, DART_SKETCH_PARTS_MAX, count,
					  error);
}

json_t *dart_sketch_target__to_json(const struct dart_sketch_target *target)
{
	const struct dart_sketch_geometry *geometry = &target->geometry;

	return dart_target_file__element(&target->collector,
					 json_pack("{s:s, s:I, s:I, s:I}", "kind",
						   dart_sketch_kind__name(geometry->kind), "rows",
						   (json_int_t)geometry->rows, "columns_log2",
						   (json_int_t)geometry->columns_log2, "period",
						   (json_int_t)geometry->period));
}

size_t dart_sketch_target__frame(const struct dart_sketch_target *target,
				 const uint8_t source_mac[ETH_ALEN],
				 const struct dart_sketch_write *write, uint32_t psn,
				 uint8_t frame[DART_SKETCH_FRAME_MAX])
{
	memcpy(frame + sizeof(struct dart_roce_headers), write->bytes, write->length);
	return dart_roce_frame__complete(&target->collector, source_mac,
					 DART_STORE_UDP_SOURCE_BASE + write->number % PORTS,
					 target->collector.base + write->offset, write->length, psn,
					 frame);
}
