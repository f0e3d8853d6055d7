// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes metrics from samples. The worker of a target owns its struct target_metrics; the event loop
 * allocates and frees it while no worker works on the target.
 */
#include "plan_budget.h"
#include "plan_limits.h"
#include "sink_metrics.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>
#include <libdart/error.h>

#include "tools/controller/base/few.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/metrics/labels/target_labels.h"
#include "tools/controller/metrics/plan/plan_make.h"
#include "tools/controller/metrics/plan/plan_store.h"
#include "tools/controller/metrics/plan/plan_own.h"
#include "tools/controller/metrics/plan/plan_relabel.h"
#include "tools/controller/metrics/plan/points.h"

struct target_metrics {
	struct metric_plan *plan; /* NULL before the first scrape, or once its series ended */
	struct refused_plan *refused; /* the last one if it is beyond a limit; or NULL */
	bool is_refused; /* as outputs were told */
	bool is_told; /* that it is refused */
	struct few said; /* refusals */
	struct plan_budget budget;
	uint32_t counted; /* series of the plan, among all */
	struct target_labels *labels; /* for series of the plan; NULL before the first scrape */
	struct points points;
	int64_t time_ns; /* time of the last scrape */
	int64_t up_ns, down_ns; /* times of the last sample of up that is 1, and 0; 0 if never */
};

/* Receivers store times in ms. */
#define UP_PRECISION_NS 1000000
/* If a sample of up would precede the opposite one by this much, the clock was set back. */
#define UP_OVERLAP_NS 1000000000

struct sink_metrics {
	struct sink sink;
	struct names *names;
	struct plan_store *plans;
	struct metric_plan *up_plan;
	/* NULL: none.  The control loop changes them, and workers read them. */
	_Atomic(struct metric_output *) outputs[SINK_METRICS_OUTPUTS_MAX];
	_Atomic size_t output_count; /* none is at a higher place */
	/* Labels of all targets that were renamed for other labels, see label_collisions.h. */
	_Atomic uint64_t collided;
	struct settings_limits limits;
	void (*say)(void *data, const char *target, const char *sentence);
	void *said_to;
	_Atomic uint64_t series; /* of all plans */
	_Atomic uint64_t refused; /* targets */
	bool bounds_plans;
	_Atomic uint64_t unplanned; /* scrapes */
	struct target_metrics *targets[SETTINGS_TARGETS_MAX]; /* by index of the target */
};

/* The output at the place *@i, or at a higher one, and moves *@i after it; NULL: there is none. */
static struct metric_output *next_output(const struct sink_metrics *all, size_t *i)
{
	const size_t count = atomic_load(&all->output_count);
	struct metric_output *output = NULL;

	while (!output && *i < count)
		output = atomic_load(&all->outputs[(*i)++]);
	return output;
}

/* Counts the series of @plan among all, or returns -E2BIG with a reason. */
static int target_metrics__admit(struct target_metrics *metrics, struct sink_metrics *all,
				 const struct metric_plan *plan, struct dart_error *reason)
{
	const uint64_t more = (uint64_t)plan->series_count - metrics->counted;
	uint64_t sum;
	int err;

	err = plan_limits__check(&all->limits, plan, reason);
	if (err)
		return err;
	sum = atomic_fetch_add(&all->series, more) + more;
	err = plan_limits__check_sum(&all->limits, sum, plan->series_count, reason);
	if (err) {
		atomic_fetch_sub(&all->series, more);
		return err;
	}
	metrics->counted = plan->series_count;
	return 0;
}

/*
 * Replaces *@plan by a plan of the series that the rules of @target keep, with their names.  They
 * also see the labels of the target, by the names that these have beside series of *@plan.
 */
static int relabel_plan(const struct target_settings *target, const struct sample *sample,
			struct metric_plan **plan)
{
	struct target_labels *labels;
	struct metric_plan *made;
	int err = -ENOMEM;

	if (relabel_rules__is_empty(target->metric_relabel))
		return 0;
	labels = target_labels__new(target, *plan);
	if (labels)
		err = plan_relabel__new(*plan, sample, target->metric_relabel,
					labels->up_utf8.labels, labels->up_utf8.count, &made);
	target_labels__put(labels);
	metric_plan__put(*plan);
	if (!err)
		*plan = made;
	return err;
}

static void forget_refused(struct target_metrics *metrics)
{
	refused_plan__free(metrics->refused);
	metrics->refused = NULL;
}

/* Makes a plan, which the caller holds; -EBUSY: too early for that. */
static int target_metrics__make(struct target_metrics *metrics, const struct sink_metrics *all,
				const struct target_settings *target, const struct sample *sample,
				struct metric_plan **plan)
{
	int64_t begun_ns;
	int err;

	if (all->bounds_plans && !plan_budget__permits(&metrics->budget, monotonic_ns()))
		return -EBUSY;
	forget_refused(metrics);
	begun_ns = dart_clock__ns(CLOCK_THREAD_CPUTIME_ID);
	err = metric_plan__new(all->names, sample, plan) ?: relabel_plan(target, sample, plan);
	/* Tables of equal hosts share their entries in memory. */
	if (!err)
		plan_store__share(all->plans, sample->table->entries, *plan);
	plan_budget__pay(&metrics->budget, monotonic_ns(),
			 dart_clock__ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns);
	return err;
}

/*
 * Makes a plan for @sample and room for its points; moves the last plan to *@previous.  Returns 0,
 * -ENOMEM, -EBUSY if plans of this target follow too fast, or -E2BIG with a reason if the plan is
 * beyond a limit.
 */
static int target_metrics__plan(struct target_metrics *metrics, struct sink_metrics *all,
				const struct target_settings *target, const struct sample *sample,
				struct metric_plan **previous, struct dart_error *reason)
{
	const uint64_t others = atomic_load(&all->series) - metrics->counted;
	struct metric_plan *plan;
	int err;

	err = refused_plan__check(metrics->refused, sample, &all->limits, others, reason) ?:
		      target_metrics__make(metrics, all, target, sample, &plan);
	if (err)
		return err;
	err = target_metrics__admit(metrics, all, plan, reason);
	if (err) {
		metrics->refused = refused_plan__new(plan, &all->limits, reason);
		metric_plan__put(plan);
		return err;
	}
	err = points__prepare(&metrics->points, plan, sample);
	if (err) {
		metric_plan__put(plan);
		return err;
	}
	*previous = metrics->plan;
	metrics->plan = plan;
	return 0;
}

/* Replaces the labels of a target by @labels, which may be NULL. */
static void set_labels(struct sink_metrics *all, struct target_metrics *metrics,
		       struct target_labels *labels)
{
	if (labels)
		atomic_fetch_add(&all->collided, labels->collided);
	if (metrics->labels)
		atomic_fetch_sub(&all->collided, metrics->labels->collided);
	target_labels__put(metrics->labels);
	metrics->labels = labels;
}

/*
 * Returns the labels of @target as its settings give them now, for series of the plan, and keeps
 * them for the next scrapes. NULL if memory ran out.
 */
static struct target_labels *target_metrics__labels(struct sink_metrics *all,
						    struct target_metrics *metrics,
						    const struct target_settings *target,
						    bool is_new_plan)
{
	if (metrics->labels && !is_new_plan && metrics->labels->source == target->labels)
		return metrics->labels;
	set_labels(all, metrics, target_labels__new(target, metrics->plan));
	return metrics->labels;
}

/* Passes on whether @target is up, at @time_ns by the clock of the controller. */
static void pass_up(const struct sink_metrics *all, const struct target_settings *target,
		    bool is_up, int64_t time_ns)
{
	const struct metric_point points[PLAN_UP_SERIES] = {
		{ is_up, time_ns },
		{ is_up, time_ns },
	};
	const struct metric_scrape scrape = {
		.plan = all->up_plan,
		.points = points,
		.time_ns = time_ns,
	};
	struct metric_output *output;
	size_t i = 0;

	while ((output = next_output(all, &i)))
		if (output->operations->up)
			output->operations->up(output, target, &scrape);
}

/* Returns @time_ns, or the next time that receivers can tell from @other_ns. */
static int64_t later_ns(int64_t time_ns, int64_t other_ns)
{
	const int64_t after_ns = other_ns + UP_PRECISION_NS;

	return time_ns > after_ns ? time_ns : after_ns;
}

/*
 * Dates a sample of up that is 1. The READs of a scrape may be posted before the target is reported
 * as down, and land after this report: the target is up again after the report, not before.
 */
static int64_t up_again_ns(const struct target_metrics *metrics, const struct sample_head *head)
{
	const int64_t landed_ns = head->time_ns + (int64_t)(head->landed_ns - head->start_ns);

	if (metrics->down_ns - landed_ns >= UP_OVERLAP_NS)
		return head->time_ns;
	return later_ns(metrics->down_ns < head->time_ns ? head->time_ns : landed_ns,
			metrics->down_ns);
}

/*
 * Dates a sample of up that is 0. A connection may end right after a scrape. Outputs send only the
 * first sample of a series in each millisecond, so receivers would keep the target as up.
 */
static int64_t down_again_ns(const struct target_metrics *metrics, int64_t lost_ns)
{
	if (metrics->up_ns - lost_ns >= UP_OVERLAP_NS)
		return lost_ns;
	return later_ns(lost_ns, metrics->up_ns);
}

static int pass_failure(struct sink *sink, const struct target_settings *target, const char *reason)
{
	struct sink_metrics *all = (struct sink_metrics *)sink;
	struct metric_output *output;
	size_t i = 0;

	while ((output = next_output(all, &i)))
		if (output->operations->failed)
			output->operations->failed(output, target, reason);
	return 0;
}

/* Ends the target's series right after the last READ. */
static void pass_loss(struct sink_metrics *all, const struct target_settings *target,
		      const char *reason)
{
	struct target_metrics *metrics = all->targets[target->index];
	struct metric_output *output;
	size_t i = 0;

	if (!metrics || !metrics->plan)
		return;
	while ((output = next_output(all, &i)))
		output->operations->lost(output, target, metrics->plan, metrics->time_ns + 1,
					 reason);
	metric_plan__put(metrics->plan);
	metrics->plan = NULL;
	atomic_fetch_sub(&all->series, metrics->counted);
	metrics->counted = 0;
}

/* In an hour, of an agent that is beyond a limit by turns. */
#define SAID_MOST 10
#define SAID_NS 3600000000000ULL

static void say_refused(const struct sink_metrics *all, const struct target_settings *target,
			struct target_metrics *metrics, const char *reason)
{
	struct dart_error sentence;
	uint64_t ignored; /* the figures tell how many agents are refused */

	metrics->is_told = few__take(&metrics->said, monotonic_ns(), SAID_MOST, SAID_NS, &ignored);
	if (!metrics->is_told || !all->say)
		return;
	dart_error__set(&sentence, 0, "no metrics: %s", reason);
	all->say(all->said_to, target->name, sentence.text);
}

/* Ends the series of a target that is beyond a limit, and tells it as down. */
static int refuse_sample(struct sink_metrics *all, const struct target_settings *target,
			 const struct sample *sample, const char *reason)
{
	struct target_metrics *metrics = all->targets[target->index];

	if (!metrics->is_refused) {
		metrics->is_refused = true;
		atomic_fetch_add(&all->refused, 1);
		say_refused(all, target, metrics, reason);
	}
	if (metrics->plan)
		pass_loss(all, target, reason);
	else
		pass_failure(&all->sink, target, reason);
	metrics->down_ns = down_again_ns(metrics, sample->head.time_ns);
	pass_up(all, target, false, metrics->down_ns);
	return 0;
}

static void accept_target(struct sink_metrics *all, const struct target_settings *target)
{
	struct target_metrics *metrics = all->targets[target->index];

	if (!metrics->is_refused)
		return;
	metrics->is_refused = false;
	atomic_fetch_sub(&all->refused, 1);
	if (metrics->is_told && all->say)
		all->say(all->said_to, target->name, "metrics again: it is within the limits");
}

/* The series of a target change faster than they may be planned. */
static int leave_out(struct sink_metrics *all, const struct target_settings *target,
		     const struct sample *sample)
{
	atomic_fetch_add(&all->unplanned, 1);
	if (all->targets[target->index]->is_refused)
		return refuse_sample(all, target, sample, "its series change too fast");
	return -EBUSY;
}

static int pass_sample(struct sink *sink, const struct target_settings *target,
		       const struct sample *sample, const struct latency *decoded)
{
	struct sink_metrics *all = (struct sink_metrics *)sink;
	struct target_metrics *metrics = all->targets[target->index];
	struct metric_plan *previous = NULL;
	struct metric_scrape scrape = {
		.time_ns = sample->head.time_ns,
		.fresh_until_ns = sample->head.fresh_until_ns,
	};
	struct dart_error reason;
	bool is_new_plan;
	struct metric_output *output;
	size_t i = 0;
	int err = 0;

	if (!metrics)
		return -ENOMEM;
	is_new_plan = !metrics->plan || !metric_plan__fits(metrics->plan, sample);
	if (is_new_plan)
		err = target_metrics__plan(metrics, all, target, sample, &previous, &reason);
	if (err == -E2BIG)
		return refuse_sample(all, target, sample, reason.text);
	if (err == -EBUSY)
		return leave_out(all, target, sample);
	if (err)
		return err;
	accept_target(all, target);
	scrape.labels = target_metrics__labels(all, metrics, target, is_new_plan);
	if (!scrape.labels) {
		if (previous)
			metric_plan__put(previous);
		return -ENOMEM;
	}
	points__evaluate(&metrics->points, metrics->plan, sample);
	metrics->time_ns = sample->head.time_ns;
	scrape.plan = metrics->plan;
	scrape.points = metrics->points.points;
	scrape.previous = previous;
	while ((output = next_output(all, &i)))
		output->operations->scrape(output, target, &scrape);
	if (previous)
		metric_plan__put(previous);
	metrics->up_ns = up_again_ns(metrics, &sample->head);
	pass_up(all, target, true, metrics->up_ns);
	return 0;
}

static int pass_down(struct sink *sink, const struct target_settings *target, int64_t time_ns,
		     const char *reason)
{
	struct sink_metrics *all = (struct sink_metrics *)sink;
	struct target_metrics *metrics = all->targets[target->index];

	pass_loss(all, target, reason);
	if (metrics) {
		time_ns = down_again_ns(metrics, time_ns);
		metrics->down_ns = time_ns;
	}
	pass_up(all, target, false, time_ns);
	return 0;
}

/* If this allocation fails, pass_sample() drops the target's samples. */
static void add_target(struct sink *sink, const struct target_settings *target)
{
	struct sink_metrics *all = (struct sink_metrics *)sink;
	struct metric_output *output;
	size_t i = 0;

	all->targets[target->index] = calloc(1, sizeof(struct target_metrics));
	while ((output = next_output(all, &i)))
		if (output->operations->added)
			output->operations->added(output, target);
}

static void free_target(struct sink_metrics *all, size_t index)
{
	struct target_metrics *metrics = all->targets[index];

	if (!metrics)
		return;
	if (metrics->plan)
		metric_plan__put(metrics->plan);
	forget_refused(metrics);
	atomic_fetch_sub(&all->series, metrics->counted);
	atomic_fetch_sub(&all->refused, metrics->is_refused);
	set_labels(all, metrics, NULL);
	points__free(&metrics->points);
	free(metrics);
	all->targets[index] = NULL;
}

static void remove_target(struct sink *sink, const struct target_settings *target)
{
	struct sink_metrics *all = (struct sink_metrics *)sink;
	struct metric_output *output;
	size_t i = 0;

	pass_loss(all, target, "it is not a target any more");
	while ((output = next_output(all, &i)))
		if (output->operations->removed)
			output->operations->removed(output, target);
	free_target(all, target->index);
}

static void sink_metrics__free(struct sink *sink)
{
	struct sink_metrics *all = (struct sink_metrics *)sink;
	struct metric_output *output;
	size_t i;

	for (i = 0; i < SETTINGS_TARGETS_MAX; i++)
		free_target(all, i);
	i = 0;
	while ((output = next_output(all, &i)))
		output->operations->free(output);
	names__put(all->names);
	plan_store__put(all->plans);
	metric_plan__put(all->up_plan);
	free(all);
}

static const struct sink_operations sink_metrics_operations = {
	.sample = pass_sample,
	.lost = pass_failure,
	.down = pass_down,
	.added = add_target,
	.removed = remove_target,
	.free = sink_metrics__free,
};

uint64_t sink_metrics__collided(const struct sink *sink)
{
	return atomic_load(&((const struct sink_metrics *)sink)->collided);
}

void sink_metrics__limit(struct sink *sink, const struct settings_limits *limits,
			 void (*say)(void *data, const char *target, const char *sentence),
			 void *data)
{
	struct sink_metrics *all = (struct sink_metrics *)sink;

	all->limits = *limits;
	all->say = say;
	all->said_to = data;
}

uint64_t sink_metrics__series(const struct sink *sink)
{
	return atomic_load(&((const struct sink_metrics *)sink)->series);
}

void sink_metrics__bound_plans(struct sink *sink)
{
	((struct sink_metrics *)sink)->bounds_plans = true;
}

uint64_t sink_metrics__unplanned(const struct sink *sink)
{
	return atomic_load(&((const struct sink_metrics *)sink)->unplanned);
}

uint64_t sink_metrics__over_limit(const struct sink *sink)
{
	return atomic_load(&((const struct sink_metrics *)sink)->refused);
}

void sink_metrics__add(struct sink *sink, struct metric_output *output)
{
	struct sink_metrics *all = (struct sink_metrics *)sink;
	size_t i = 0;

	while (atomic_load(&all->outputs[i]))
		i++;
	atomic_store(&all->outputs[i], output);
	if (i >= atomic_load(&all->output_count))
		atomic_store(&all->output_count, i + 1);
}

void sink_metrics__remove(struct sink *sink, const struct metric_output *output)
{
	struct sink_metrics *all = (struct sink_metrics *)sink;
	size_t i;

	for (i = 0; i < SINK_METRICS_OUTPUTS_MAX; i++)
		if (atomic_load(&all->outputs[i]) == output)
			atomic_store(&all->outputs[i], NULL);
}

struct sink *sink_metrics__new(struct names *names, struct metric_output *const *outputs,
			       size_t count)
{
	struct sink_metrics *all = calloc(1, sizeof(*all));
	size_t i;

	if (all) {
		all->plans = plan_store__new();
		all->up_plan = plan_up__new();
	}
	if (!all || !all->plans || !all->up_plan) {
		for (i = 0; i < count; i++)
			outputs[i]->operations->free(outputs[i]);
		if (all) {
			plan_store__put(all->plans);
			if (all->up_plan)
				metric_plan__put(all->up_plan);
		}
		free(all);
		return NULL;
	}
	all->sink.operations = &sink_metrics_operations;
	all->names = names__get(names);
	for (i = 0; i < count; i++)
		sink_metrics__add(&all->sink, outputs[i]);
	return &all->sink;
}
