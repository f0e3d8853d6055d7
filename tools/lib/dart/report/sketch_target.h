/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sketch that a sketcher WRITEs to, as an agent exports it, and the frames that carry its
 * strips: see <dart/sketch.h> and dart_sketches(5).
 *
 * `dartctl sketch export` prints such a JSON file:
 *
 *   {"dart_sketches": 1,
 *    "sketches": [
 *      {"name": "flows", "reporter": "10.0.0.2", "mac": "52:54:00:00:00:01", "ip": "10.0.0.1",
 *       "qpn": 17, "rkey": 4660, "base": "0x3a5f00000000", "first_psn": 0,
 *       "epoch": 1795339800, "kind": "count-min", "rows": 4, "columns_log2": 16, "period": 10}]}
 *
 * The first members, and dscp, are those of dart_collectors(5); reporter is the address of the
 * sketcher, and base that of its part.
 */
#ifndef DART_SKETCH_TARGET_H
#define DART_SKETCH_TARGET_H

#include <libdart/sketch/sketch.h>

#include "roce_frame.h"

struct dart_sketch_target {
	struct dart_collector collector; /* without a geometry */
	struct dart_sketch_geometry geometry; /* of one sketcher */
};

/*
 * Reads the sketch for the sketcher at @address from the file at @path.  INADDR_ANY stands for the
 * only sketcher in the file.  Returns 0, or sets @error and returns -ENOENT if there is none,
 * -EINVAL, -ENOMEM or the error of opening the file.
 */
int dart_sketch_target__load(const char *path, struct in_addr address,
			     struct dart_sketch_target *target, struct dart_error *error);
/*
 * Reads the sketches of all sketchers in the file, and sets *@count.  Returns 0, or sets @error and
 * returns -EINVAL, -ENOMEM or the error of opening the file.
 */
int dart_sketch_target__load_all(const char *path,
				 struct dart_sketch_target targets[DART_SKETCH_PARTS_MAX],
				 uint32_t *count, struct dart_error *error);
/* An element of the file, a new reference; NULL if out of memory. */
json_t *dart_sketch_target__to_json(const struct dart_sketch_target *target);

/* Bytes of the longest frame. */
#define DART_SKETCH_FRAME_MAX \
	(sizeof(struct dart_roce_headers) + DART_SKETCH_STRIP_MAX + DART_ROCE_ICRC_LENGTH)

/* Builds the frame of @write, and returns its bytes. */
size_t dart_sketch_target__frame(const struct dart_sketch_target *target,
				 const uint8_t source_mac[ETH_ALEN],
				 const struct dart_sketch_write *write, uint32_t psn,
				 uint8_t frame[DART_SKETCH_FRAME_MAX]);

#endif /* DART_SKETCH_TARGET_H */
