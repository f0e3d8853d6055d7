/* SPDX-License-Identifier: GPL-2.0-only */
/* Scrapes without an agent: the test lets their READs land. */
#ifndef CONTROLLER_TEST_RING_H
#define CONTROLLER_TEST_RING_H

#include "controller_table.h"
#include "tools/controller/decode/decoder.h"

/* Each scrape contains the entry "values" with this number of equal rows. */
#define VALUES 64

static inline struct ring *ring_of(const struct dart_schema *schema)
{
	const struct wish wish = { "values", schema, VALUES, 1 };
	const struct scraper_use use = {
		.value_bytes = 24,
		.is_compared = true,
	};
	const struct settings all = { };
	struct scraper *scraper;
	struct dart_error error;
	struct ring *ring;

	assert_int_equal(scraper__new(table_of(&wish, 1), &all, &use,
				      &accept_of_agent, &scraper, &error),
			 0);
	ring = ring__new(scraper);
	assert_non_null(ring);
	return ring;
}

/* All values become @sequence where the READs land; then they are handed over. */
static inline bool land(struct ring *ring, uint64_t sequence, struct decoder *decoder)
{
	const struct dart_read *read = &ring->scraper->reads[0];
	const struct sample_head head = { .sequence = sequence };
	uint64_t *landing = (uint64_t *)((char *)ring->memory + read->landing);
	struct work_batch batch = {};
	uint32_t i;
	bool ret;

	assert_int_equal(read->length, VALUES * sizeof(*landing));
	for (i = 0; i < VALUES; i++)
		landing[i] = sequence;
	ret = decoder__hand_over(decoder, ring, &head, &batch);
	work_batch__end(&batch);
	return ret;
}

#endif /* CONTROLLER_TEST_RING_H */
