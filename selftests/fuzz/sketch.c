// SPDX-License-Identifier: GPL-2.0-only
/* Memory of a sketch that sketchers, or others, wrote. */
#include <endian.h>
#include <zlib.h>

#include <libdart/sketch/sketch_reader.h>

#include "fuzz.h"

#define PARTS 2
#define STRIPS 2
#define STRIP 76 /* bytes, of one row */
#define MEMORY (PARTS * DART_SKETCH_BANKS * STRIPS * STRIP)

/* Few inputs have a right CRC by chance: a last byte of 0xff asks for one. */
static void correct(uint8_t *memory)
{
	uint8_t *strip;

	for (strip = memory; strip < memory + MEMORY; strip += STRIP) {
		const uint32_t crc = htobe32(crc32(0, strip, STRIP - DART_SKETCH_STRIP_CRC));

		if (strip[STRIP - 1] == 0xff)
			memcpy(strip + STRIP - DART_SKETCH_STRIP_CRC, &crc, sizeof(crc));
	}
}

static void check_sum(const struct dart_sketch_geometry *geometry,
		      const struct dart_sketch_merge *merge)
{
	const struct dart_sketch_summary *summary = dart_sketch_merge__summary(merge);
	const struct dart_sketch_holes *holes = &summary->holes;
	struct dart_sketch_estimate estimate;
	uint8_t key;

	require(summary->period && summary->present);
	require(summary->present + summary->absent + summary->unused == PARTS);
	require(summary->strips == STRIPS && summary->without_hole <= STRIPS);
	require(holes->empty + holes->older + holes->newer + holes->torn <
		summary->present * STRIPS);
	require(summary->reporters || !summary->without_hole);
	for (key = 0; key < 64; key++) {
		dart_sketch_merge__ask(merge, &key, 1, &estimate);
		require(estimate.rows == (estimate.outcome == DART_SKETCH_COUNTED));
		require(estimate.count >= 0 || geometry->kind == DART_SKETCH_COUNT_SKETCH);
		require(summary->without_hole < STRIPS || estimate.outcome != DART_SKETCH_HOLE);
	}
}

/* The first byte is the kind, the others are the memory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_sketch_geometry geometry = { PARTS, 0, 1, 5, 10 };
	struct dart_sketch_reader *reader;
	struct dart_sketch_merge *merge;
	struct dart_error error = {};
	uint8_t *memory = calloc(1, MEMORY);
	uint32_t period;

	require(memory);
	if (size) {
		geometry.kind = *data++ % 2;
		size--;
	}
	memcpy(memory, data, size < MEMORY ? size : MEMORY);
	correct(memory);
	require(dart_sketch_geometry__length(&geometry) == MEMORY);
	require(!dart_sketch_reader__map(&geometry, memory, &reader));
	for (period = 0; period < 4; period++) {
		if (dart_sketch_reader__read(reader, period, &merge, &error)) {
			require_sentence(&error);
			continue;
		}
		check_sum(&geometry, merge);
		dart_sketch_merge__free(merge);
	}
	dart_sketch_reader__close(reader);
	free(memory);
	return 0;
}
