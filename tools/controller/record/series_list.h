/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The series of a whole recording, in groups whose points are adjacent in OpenMetrics.  A series
 * forms its own group, but all buckets of a histogram form one group, because they are written time
 * by time.  Groups are numbered in the order in which they appear, and ranked in the order in which
 * they are written: by family, then by target.
 */
#ifndef CONTROLLER_RECORD_SERIES_LIST_H
#define CONTROLLER_RECORD_SERIES_LIST_H

#include "tools/controller/base/arena.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/metrics/text/text_index.h"

struct listed_series {
	const char *name;
	const char *text; /* the labels as text */
	struct listed_series *next; /* next series of the group */
	uint32_t member; /* number of the series in its group */
};

struct listed_group {
	const struct metric_family *family;
	const char *labels; /* labels of the target */
	const char *key; /* identifies the group, and is the sort key */
	struct listed_series *members;
	uint32_t member_count;
};

/* All zeros is an empty list. */
struct series_list {
	struct arena arena;
	struct text_index by_key;
	struct text_index family_by_name;
	const struct metric_family **families;
	struct listed_group *groups;
	uint32_t *ranks; /* ranks of the groups that are ranked so far */
	uint32_t *by_rank;
	uint32_t family_count, family_room;
	uint32_t group_count, group_room;
	uint32_t ranked_count;
	uint64_t left_out; /* series whose family appears with another type elsewhere */
};

/* The place for the points of a series. */
struct series_place {
	uint32_t group; /* TEXT_INDEX_NONE if the series is left out */
	uint32_t member;
};

/*
 * Finds the place of series @at of @plan for a target with @labels, and adds the series if it is
 * new.  The list keeps no reference to @plan.  Returns 0 or -ENOMEM.
 */
int series_list__find(struct series_list *list, const struct metric_plan *plan, uint32_t at,
		      const char *labels, struct series_place *place);
/*
 * Ranks all groups.  Groups that were ranked before keep their relative order.  Returns 0 or
 * -ENOMEM.
 */
int series_list__rank(struct series_list *list);
void series_list__clear(struct series_list *list);

#endif /* CONTROLLER_RECORD_SERIES_LIST_H */
