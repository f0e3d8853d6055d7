/* SPDX-License-Identifier: GPL-2.0-only */
/* Plans, targets and an output that notes the points of its blocks. */
#ifndef PUSH_SERIES_SCENE_H
#define PUSH_SERIES_SCENE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/push/queue/series.h"

#define SECOND 1000000000LL

static const struct metric_family families[] = { { .name = "a" },
						 { .name = "b" },
						 { .name = "c" } };

static const struct metric_series all[] = {
	{ .family = 0, .name = "a", .text = "" },
	{ .family = 1, .name = "b", .text = "x=\"1\"" },
	{ .family = 1, .name = "b", .text = "x=\"2\"" },
	{ .family = 2, .name = "c", .text = "" },
};

static const struct metric_series fewer[] = {
	{ .family = 1, .name = "b", .text = "x=\"2\"" },
	{ .family = 1, .name = "b", .text = "x=\"3\"" },
};

static struct metric_plan first = {
	.families = families,
	.family_count = 3,
	.series = all,
	.series_count = 4,
};

static struct metric_plan second __attribute__((unused)) = {
	.families = families,
	.family_count = 3,
	.series = fewer,
	.series_count = 2,
};

static int holders;

struct metric_plan *metric_plan__get(struct metric_plan *plan)
{
	holders++;
	return plan;
}

void metric_plan__put(struct metric_plan *plan)
{
	holders--;
}

struct fixture {
	struct series *series;
	struct series_rules rules;
	struct target_settings target;
	struct metric_point points[4];
	char text[4000];	/* of blocks: "a@1=1 ...;" */
	unsigned int blocks;
	uint64_t now_ns;	/* CLOCK_MONOTONIC: a second later at each scrape */
};

static char host[] = "h:1";

/* Prints the points of a block, in ms. */
static inline void take(void *data, struct block *block)
{
	struct fixture *fixture = data;
	char *to = fixture->text + strlen(fixture->text);
	const struct metric_series *series;
	const struct metric_point *point;
	uint64_t bits, samples = 0;
	uint32_t i, j;

	fixture->blocks++;
	for (i = 0; i < block->scrapes; i++) {
		for (j = 0; j < block->plan->series_count; j++) {
			series = block->plan->series + j;
			point = block->rows[i] + j;
			if (!point->time_ns)
				continue;
			samples++;
			memcpy(&bits, &point->value, sizeof(bits));
			to += sprintf(to, "%s%s@%" PRId64, series->name, series->text,
				      point->time_ns / 1000000);
			to += bits == 0x7ff0000000000002 ? sprintf(to, " ends ") :
							   sprintf(to, "=%g ", point->value);
		}
	}
	sprintf(to, "; ");
	assert_int_equal(samples, block->samples);
	atomic_fetch_sub(&fixture->rules.bytes, block->bytes);
	block__free(block);
}

static inline void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){
		.series = series__new(),
		.rules = {
			.precision_ns = 1000000,
			.has_markers = true,
			.batch = 1000,
			.bound = 1 << 20,
			.take = take,
		},
		.target.name = host,
	};
	fixture->rules.data = fixture;
	ended__open(&fixture->rules.ended);
	assert_non_null(fixture->series);
}

static inline void end(struct fixture *fixture)
{
	series__free(fixture->series, &fixture->rules);
	ended__close(&fixture->rules.ended);
	assert_int_equal(holders, 0);
	assert_int_equal(atomic_load(&fixture->rules.bytes), 0);
}

static inline void expect(struct fixture *fixture, const char *text)
{
	assert_string_equal(fixture->text, text);
	fixture->text[0] = '\0';
}

/* Rows that may be older than the scrape: both series carry @row_ns. */
static inline void scrape_rows(struct fixture *fixture, struct metric_plan *plan,
			double value, int64_t time_ns, int64_t row_ns)
{
	const struct metric_scrape made = {
		.plan = plan,
		.points = fixture->points,
		.time_ns = time_ns,
	};
	uint32_t i;

	for (i = 0; i < plan->series_count; i++)
		fixture->points[i] = (struct metric_point){ value, row_ns };
	fixture->now_ns += SECOND;
	series__add(fixture->series, &fixture->rules, &fixture->target, NULL,
		    &made, fixture->now_ns);
}

#endif /* PUSH_SERIES_SCENE_H */
