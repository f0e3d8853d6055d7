/* SPDX-License-Identifier: GPL-2.0-only */
/* The sketchers of a sketch whose strips a translator adds up: "Merging" in <dart/sketch.h>. */
#ifndef SKETCHERS_H
#define SKETCHERS_H

#include <libdart/report/sketch_target.h>

/* Where the strips of a sketcher come from and go to. */
struct sketchers_source {
	struct in_addr address;
	uint32_t qpn;
};

/* The sketchers of a file but the translator itself. */
struct sketchers {
	struct dart_sketch_target target; /* part of the translator */
	uint32_t count;
	struct sketchers_source sources[DART_SKETCH_PARTS_MAX]; /* by address */
};

/*
 * Reads the sketch for the translator at @address and its sketchers from the file at @path.  Returns
 * 0, or -errno with a sentence in @error; -EINVAL if the sketch has no other sketcher.
 */
int sketchers__load(const char *path, struct in_addr address, struct sketchers *sketchers,
		    struct dart_error *error);

#endif /* SKETCHERS_H */
