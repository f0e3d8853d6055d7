/* SPDX-License-Identifier: GPL-2.0-only */
/* The sums of the summaries that a controller prints of its targets. */
#ifndef FARM_SUMS_H
#define FARM_SUMS_H

#include <jansson.h>
#include <stdint.h>

struct farm_sums {
	uint64_t hosts;	/* summaries */
	uint64_t scrapes, failed, missed, discarded, dropped;
};

/* Adds a summary, the member of that name of a line.  -EBADMSG if it lacks a number. */
int farm_sums__add(struct farm_sums *sums, const json_t *summary);
/* A new reference; NULL if out of memory. */
json_t *farm_sums__to_json(const struct farm_sums *sums);

#endif /* FARM_SUMS_H */
