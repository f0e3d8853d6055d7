/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that makes metrics, with outputs that note how they are called. */
#ifndef METRIC_SINKS_SCENE_H
#define METRIC_SINKS_SCENE_H

#include "metric_samples.h"
#include "tools/controller/metrics/sink_metrics.h"

#define TARGETS 2

static const struct wanted_field fields[] = { { "v", "", DART_CONTROL_FIELD_COUNTER }, {} };

/* The calls of an output for each target. */
struct told {
	unsigned int scrapes;
	unsigned int plans; /* plans that replaced another one */
	unsigned int lost;
	unsigned int failed;
	unsigned int ups, downs; /* of dart_up and up, which agree */
	int64_t up_ns; /* of the last of them */
	double last;
	struct metric_plan *held; /* of its first scrape */
	char reason[100];
	bool is_added;
	bool is_removed;
};

struct noting_output {
	struct metric_output output;
	struct told told[TARGETS];
	bool *is_freed;
};

static void note_scrape(struct metric_output *output, const struct target_settings *target,
			const struct metric_scrape *scrape)
{
	struct told *told = &((struct noting_output *)output)->told[target->index];
	const int series = find_series(scrape->plan, "dart_e_v_total");

	assert_true(series >= 0);
	told->scrapes++;
	told->plans += scrape->previous != NULL;
	told->last = scrape->points[series].value;
	if (!told->held)
		told->held = metric_plan__get(scrape->plan);
}

static void note_failure(struct metric_output *output, const struct target_settings *target,
			 const char *reason)
{
	((struct noting_output *)output)->told[target->index].failed++;
}

static void note_loss(struct metric_output *output, const struct target_settings *target,
		      const struct metric_plan *plan, int64_t time_ns, const char *reason)
{
	struct told *told = &((struct noting_output *)output)->told[target->index];

	assert_true(find_series(plan, "dart_e_v_total") >= 0);
	assert_int_equal(time_ns, 6000 * SECOND + 1);
	told->lost++;
	strcpy(told->reason, reason);
}

static void note_up(struct metric_output *output, const struct target_settings *target,
		    const struct metric_scrape *scrape)
{
	struct told *told = &((struct noting_output *)output)->told[target->index];
	const int series = find_series(scrape->plan, "dart_up");
	const int other = find_series(scrape->plan, "up");

	assert_true(series >= 0 && other >= 0);
	assert_int_equal(scrape->plan->series_count, 2);
	assert_true(scrape->points[series].value == scrape->points[other].value);
	assert_int_equal(scrape->points[series].time_ns, scrape->time_ns);
	assert_int_equal(scrape->points[other].time_ns, scrape->time_ns);
	if (scrape->points[series].value == 1)
		told->ups++;
	else
		told->downs++;
	told->up_ns = scrape->time_ns;
}

static void note_added(struct metric_output *output, const struct target_settings *target)
{
	((struct noting_output *)output)->told[target->index].is_added = true;
}

static void note_removed(struct metric_output *output, const struct target_settings *target)
{
	((struct noting_output *)output)->told[target->index].is_removed = true;
}

static void free_output(struct metric_output *output)
{
	struct noting_output *noting = (struct noting_output *)output;
	int i;

	for (i = 0; i < TARGETS; i++)
		if (noting->told[i].held)
			metric_plan__put(noting->told[i].held);
	*noting->is_freed = true;
	free(noting);
}

static const struct metric_output_operations full_operations = {
	.scrape = note_scrape,
	.lost = note_loss,
	.failed = note_failure,
	.up = note_up,
	.added = note_added,
	.removed = note_removed,
	.free = free_output,
};

static const struct metric_output_operations least_operations = {
	.scrape = note_scrape,
	.lost = note_loss,
	.free = free_output,
};

static struct noting_output *noting_output__new(const struct metric_output_operations *operations,
						bool *is_freed)
{
	struct noting_output *noting = calloc(1, sizeof(*noting));

	assert_non_null(noting);
	noting->output.operations = operations;
	noting->is_freed = is_freed;
	return noting;
}

static struct target_settings targets[TARGETS] = {
	{ .index = 0, .name = "a:4792" },
	{ .index = 1, .name = "b:4792" },
};

static void add_value(struct host *host)
{
	const uint32_t entry =
		host__add(host, "e+1s", host__record(host, fields), DART_CONTROL_COPIES_SUM, 1);

	host__mark(host, entry, 0, 2);
}

/* A target whose scrape was posted at 6,000 s, with an output that notes whether it is up. */
struct sighting {
	bool is_freed;
	struct noting_output *output;
	struct sink *sink;
	struct host host;
};

static void sighting__open(struct sighting *sighting, uint64_t landed_after_ns)
{
	struct metric_output *outputs[1];

	*sighting = (struct sighting){};
	sighting->output = noting_output__new(&full_operations, &sighting->is_freed);
	outputs[0] = &sighting->output->output;
	sighting->sink = sink_metrics__new(NULL, outputs, 1);
	host__init(&sighting->host);
	sighting->host.sample.head.start_ns = 5 * SECOND;
	sighting->host.sample.head.landed_ns = 5 * SECOND + landed_after_ns;
	add_value(&sighting->host);
}

static void sighting__close(struct sighting *sighting)
{
	sighting->sink->operations->free(sighting->sink);
	host__free(&sighting->host);
	assert_true(sighting->is_freed);
}

#endif /* METRIC_SINKS_SCENE_H */
