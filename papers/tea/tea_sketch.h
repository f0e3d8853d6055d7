/* SPDX-License-Identifier: GPL-2.0-only */
/* The sketch of <dart/tea_sketch.h>, as the P4 program computes it. */
#ifndef PAPERS_TEA_SKETCH_H
#define PAPERS_TEA_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#include <dart/tea_sketch.h>

struct tea_sketch {
	uint16_t counters[DART_TEA_SKETCH_ROWS][DART_TEA_SKETCH_SLOTS];
	bool reported[DART_TEA_REPORTED_ROWS][DART_TEA_SKETCH_SLOTS];
};

/* The CRCs of a key by which it finds its places. */
struct tea_sketch_key {
	uint32_t row_0, row_1;
};

/* Counts a packet, and tells whether its key is to be reported. */
bool tea_sketch__packet(struct tea_sketch *sketch,
			const struct tea_sketch_key *key, uint32_t threshold);
/* Begins a period. */
void tea_sketch__clear(struct tea_sketch *sketch);

#endif /* PAPERS_TEA_SKETCH_H */
