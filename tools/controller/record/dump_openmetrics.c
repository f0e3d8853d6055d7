// SPDX-License-Identifier: GPL-2.0-only
/* Collects all points of a recording and prints them in order: see dump_openmetrics.h. */
#include "dump_openmetrics.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "series_list.h"
#include "spill.h"
#include "tools/controller/base/number_text.h"
#include "tools/controller/metrics/labels/target_labels.h"
#include "tools/controller/metrics/text/text_writer.h"

#define DIRECTORY_DEFAULT "/var/tmp"
/* The writer hands its text over once it is this long. */
#define TEXT_BYTES (256U << 10)

/* A target and the places of its series in the dump. */
struct dump_target {
	struct metric_plan *plan; /* held; NULL before the first scrape */
	struct series_place *places; /* one for each series of the plan */
};

struct dump {
	struct metric_output metrics; /* first */
	struct output *output;
	struct output *log;
	const char *directory;
	atomic_bool is_given_up;

	pthread_mutex_t lock; /* protects all members below while scrapes arrive */
	struct series_list list;
	struct spill *spill;
	struct dump_target *targets[SETTINGS_TARGETS_MAX];
	int error; /* the error that the log already reported */

	/* Used only while printing. */
	struct text_writer writer;
	const struct metric_family *family; /* the family whose metadata was printed last */
	const struct listed_group *group;
	const struct listed_series **members; /* the series of @group, by their number */
	int64_t *last_ms; /* time of the last point of each member */
	uint32_t member_room;
};

static struct dump *dump_of(struct metric_output *metrics)
{
	return (struct dump *)metrics;
}

static void dump__fail(struct dump *dump, int err)
{
	if (dump->error)
		return;
	dump->error = err;
	if (err == -ENOMEM)
		output__print(dump->log, "dart-controller: out of memory");
	else
		output__print(
			dump->log,
			"dart-controller: the temporary file in '%s' fails: %s (TMPDIR names another directory)",
			dump->directory, strerror(-err));
}

static void dump_target__clear(struct dump_target *target)
{
	if (target->plan)
		metric_plan__put(target->plan);
	free(target->places);
	*target = (struct dump_target){};
}

static int dump_target__set_plan(struct dump_target *target, struct dump *dump,
				 const struct target_labels *labels, struct metric_plan *plan)
{
	uint32_t i;
	int err = 0;

	dump_target__clear(target);
	target->places = calloc(plan->series_count ?: 1, sizeof(*target->places));
	if (!target->places)
		return -ENOMEM;
	for (i = 0; i < plan->series_count && !err; i++)
		err = series_list__find(&dump->list, plan, i, labels->set.text, &target->places[i]);
	if (!err)
		target->plan = metric_plan__get(plan);
	return err;
}

static int dump__flush(struct dump *dump)
{
	return series_list__rank(&dump->list) ?:
		       spill__flush(dump->spill, dump->list.ranks, dump->list.group_count);
}

static int dump__add(struct dump *dump, const struct dump_target *target,
		     const struct metric_point *points)
{
	const struct metric_plan *plan = target->plan;
	struct spilled point;
	uint32_t i, at;
	int err;

	for (i = 0; i < plan->series_count; i++) {
		at = plan->listing ? plan->listing[i] : i;
		if (!points[at].time_ns || target->places[at].group == TEXT_INDEX_NONE)
			continue;
		point = (struct spilled){
			.group = target->places[at].group,
			.member = target->places[at].member,
			.time_ns = points[at].time_ns,
			.value = points[at].value,
		};
		if (spill__add(dump->spill, &point))
			continue;
		err = dump__flush(dump);
		if (err)
			return err;
		spill__add(dump->spill, &point);
	}
	return 0;
}

static void take_scrape(struct metric_output *metrics, const struct target_settings *settings,
			const struct metric_scrape *scrape)
{
	struct dump *dump = dump_of(metrics);
	struct dump_target **target = &dump->targets[settings->index];
	int err = 0;

	pthread_mutex_lock(&dump->lock);
	if (!*target)
		*target = calloc(1, sizeof(**target));
	if (!*target)
		err = -ENOMEM;
	else if ((*target)->plan != scrape->plan)
		err = dump_target__set_plan(*target, dump, scrape->labels, scrape->plan);
	if (!err && !dump->error)
		err = dump__add(dump, *target, scrape->points);
	if (err)
		dump__fail(dump, err);
	pthread_mutex_unlock(&dump->lock);
}

/* OpenMetrics cannot express a loss: the series simply get no further points. */
static void take_loss(struct metric_output *metrics, const struct target_settings *target,
		      const struct metric_plan *plan, int64_t time_ns, const char *reason)
{
}

static void remove_target(struct metric_output *metrics, const struct target_settings *settings)
{
	struct dump *dump = dump_of(metrics);
	struct dump_target **target = &dump->targets[settings->index];

	pthread_mutex_lock(&dump->lock);
	if (*target)
		dump_target__clear(*target);
	free(*target);
	*target = NULL;
	pthread_mutex_unlock(&dump->lock);
}

static void dump__free(struct metric_output *metrics)
{
	struct dump *dump = dump_of(metrics);
	size_t i;

	for (i = 0; i < SETTINGS_TARGETS_MAX; i++) {
		if (dump->targets[i])
			dump_target__clear(dump->targets[i]);
		free(dump->targets[i]);
	}
	text_writer__clear(&dump->writer);
	series_list__clear(&dump->list);
	spill__close(dump->spill);
	pthread_mutex_destroy(&dump->lock);
	free(dump->members);
	free(dump->last_ms);
	free(dump);
}

static const struct metric_output_operations operations = {
	.scrape = take_scrape,
	.lost = take_loss,
	.removed = remove_target,
	.free = dump__free,
};

int dump_openmetrics__new(struct output *output, struct output *log, size_t bytes,
			  struct metric_output **metrics, struct dart_error *error)
{
	struct dump *dump = calloc(1, sizeof(*dump));
	int err;

	if (!dump)
		return dart_error__no_memory(error);
	dump->metrics.operations = &operations;
	dump->output = output;
	dump->log = log;
	dump->directory = getenv("TMPDIR") ?: DIRECTORY_DEFAULT;
	dump->writer.format = METRIC_TEXT_OPENMETRICS;
	dump->writer.has_times = true;
	pthread_mutex_init(&dump->lock, NULL);
	err = spill__open(dump->directory, bytes, &dump->spill, error);
	if (err) {
		dump__free(&dump->metrics);
		return err;
	}
	*metrics = &dump->metrics;
	return 0;
}

/* ---- printing */

static int dump__hand_over(struct dump *dump)
{
	size_t length;
	char *text;

	if (atomic_load(&dump->is_given_up))
		return -ECANCELED;
	text = text_writer__take(&dump->writer, &length);
	if (!text) {
		dump__fail(dump, -ENOMEM);
		return -ENOMEM;
	}
	return output__write(dump->output, text, length);
}

/* Returns the time in ms that Prometheus reads from the text of a time. */
static int64_t ms_of(int64_t time_ns)
{
	char text[NUMBER_TEXT_MAX];

	number_text__print_decimal(time_ns, 9, text);
	return (int64_t)(strtod(text, NULL) * 1000);
}

static int print_point(void *data, const struct spilled *point)
{
	struct dump *dump = data;
	const struct listed_group *group = dump->group;
	const struct listed_series *series = dump->members[point->member];
	const struct metric_point printed = { point->value, point->time_ns };
	const int64_t ms = ms_of(point->time_ns);

	if (ms <= dump->last_ms[point->member])
		return 0;
	dump->last_ms[point->member] = ms;
	if (dump->family != group->family)
		text_writer__print_family(&dump->writer, group->family);
	dump->family = group->family;
	text_writer__print_point(&dump->writer, group->labels, strlen(group->labels), series->name,
				 series->text, &printed);
	return dump->writer.length < TEXT_BYTES && !dump->writer.has_failed ? 0 :
									      dump__hand_over(dump);
}

/* Fills in the members of the group to print. */
static int dump__begin_group(struct dump *dump, const struct listed_group *group)
{
	const uint32_t count = group->member_count;
	const struct listed_series *member;
	uint32_t i;

	if (count > dump->member_room) {
		free(dump->members);
		free(dump->last_ms);
		dump->members = calloc(count, sizeof(*dump->members));
		dump->last_ms = calloc(count, sizeof(*dump->last_ms));
		dump->member_room = dump->members && dump->last_ms ? count : 0;
		if (!dump->member_room)
			return -ENOMEM;
	}
	for (member = group->members; member; member = member->next)
		dump->members[member->member] = member;
	for (i = 0; i < count; i++)
		dump->last_ms[i] = INT64_MIN;
	dump->group = group;
	return 0;
}

static int dump__print_all(struct dump *dump)
{
	const struct series_list *list = &dump->list;
	uint32_t i, group;
	int err = 0;

	for (i = 0; i < list->group_count && !err; i++) {
		group = list->by_rank[i];
		err = dump__begin_group(dump, &list->groups[group]) ?:
			      spill__read(dump->spill, group, print_point, dump);
	}
	if (err)
		return err;
	text_writer__print_end(&dump->writer);
	return dump__hand_over(dump);
}

int dump_openmetrics__print(struct metric_output *metrics)
{
	struct dump *dump = dump_of(metrics);
	int err = dump->error;

	if (err)
		return err;
	err = dump__flush(dump) ?: spill__rewind(dump->spill) ?: dump__print_all(dump);
	/* An output that takes no more text reports the reason itself. */
	if (err && err != -ENOBUFS && err != -ECANCELED)
		dump__fail(dump, err);
	if (dump->list.left_out)
		output__print(
			dump->log,
			"dart-controller: %llu series were left out: their families have another type elsewhere in the recording",
			(unsigned long long)dump->list.left_out);
	return err;
}

void dump_openmetrics__give_up(struct metric_output *metrics)
{
	atomic_store(&dump_of(metrics)->is_given_up, true);
}
