/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The series of a whole recording, in groups whose points lie side by side in OpenMetrics: a
 * series is a group of its own, but all buckets of a histogram are one, for they are written
 * time by time.  Groups have numbers in the order in which they appear, and ranks in that in
 * which they are written: family by family, in these target by target.
 */
#ifndef CONTROLLER_RECORD_SERIES_LIST_H
#define CONTROLLER_RECORD_SERIES_LIST_H

#include "tools/controller/base/arena.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/metrics/text/text_index.h"

struct listed_series {
	const char *name;
	const char *text; /* of its labels */
	struct listed_series *next; /* of the group */
	uint32_t member; /* its number there */
};

struct listed_group {
	const struct metric_family *family;
	const char *labels; /* of the target */
	const char *key; /* by which groups are found and sorted */
	struct listed_series *members;
	uint32_t member_count;
};

/* All zeros is empty. */
struct series_list {
	struct arena arena;
	struct text_index by_key;
	struct text_index family_by_name;
	const struct metric_family **families;
	struct listed_group *groups;
	uint32_t *ranks; /* of the groups, as far as they are ranked */
	uint32_t *by_rank;
	uint32_t family_count, family_room;
	uint32_t group_count, group_room;
	uint32_t ranked_count;
	uint64_t left_out; /* series whose family has another type elsewhere */
};

/* Where the points of a series go. */
struct series_place {
	uint32_t group; /* TEXT_INDEX_NONE: it is left out */
	uint32_t member;
};

/*
 * The place of series @at of @plan, of which nothing is kept, at a target with @labels; it is
 * added if it is new.  Returns 0 or -ENOMEM.
 */
int series_list__find(struct series_list *list, const struct metric_plan *plan, uint32_t at,
		      const char *labels, struct series_place *place);
/* Ranks all groups.  Groups that were ranked before keep their order.  Returns 0 or -ENOMEM. */
int series_list__rank(struct series_list *list);
void series_list__clear(struct series_list *list);

#endif /* CONTROLLER_RECORD_SERIES_LIST_H */
