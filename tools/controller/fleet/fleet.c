// SPDX-License-Identifier: GPL-2.0-only
/* Starts and ends targets while the controller runs. */
#include "fleet.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "tools/controller/base/timers.h"
#include "tools/controller/condition/condition.h"

/* Targets that are started or stopped before the loop looks at other events. */
#define BATCH 16
/* How often the fleet asks whether a target drained. */
#define DRAIN_US 2000

/*
 * A stopped target, handed over after its last scrape; or a target that stands by from now on,
 * handed over after the last scrape that outputs get.
 */
struct leaving {
	struct work work; /* first */
	struct fleet *fleet;
	struct target *target;
	size_t index;
	bool was_finished;
	bool stands_by;
	STAILQ_ENTRY(leaving) place;
};

STAILQ_HEAD(leaving_list, leaving);

struct fleet {
	struct target_context *context;
	struct output *output;
	struct target_set *set;
	struct discovery *discovery;
	sd_event_source *work; /* deferred: the set needs to act */
	sd_event_source *left; /* workers are done with some */
	int left_fd; /* eventfd */
	pthread_mutex_t lock;
	struct leaving_list done; /* of the workers, under the lock */
	struct leaving_list draining; /* of the loop */
	struct timer drain_timer;
	struct timer end_timer; /* after fleet__leave() */
	uint64_t leave_ns; /* when it ends, CLOCK_MONOTONIC; 0: all have taken over, or it stays */
	struct discovery_operations discovery_operations;
	bool was_ready; /* see fleet__is_ready() */
	struct unreached unreached;
	size_t finished; /* targets whose requested scrapes are all there */
	int result;
};

static bool fleet__is_limited(const struct fleet *fleet)
{
	const struct options *options = fleet->context->options;

	return options->once || options->count;
}

/* Ends the loop when all requested scrapes of all named targets are there. */
static void fleet__end_if_done(struct fleet *fleet)
{
	if (!fleet__is_limited(fleet) || !fleet->discovery ||
	    fleet->finished < target_set__running(fleet->set) ||
	    !target_set__is_settled(fleet->set) || !discovery__is_complete(fleet->discovery))
		return;
	if (!fleet->finished && !fleet->result) {
		output__print(fleet->context->log, "dart-controller: no source names an agent");
		fleet->result = -EHOSTUNREACH;
	}
	sd_event_exit(fleet->context->event, 0);
}

/* Outputs get the target from now on. */
static void fleet__add(struct fleet *fleet, struct target *target)
{
	const struct target_settings *settings = target__settings(target);
	struct sink *sink = fleet->context->sink;
	struct tap *tap = fleet->context->tap;

	target__role(target)->is_known = true;
	if (sink->operations->added)
		sink->operations->added(sink, settings);
	if (tap)
		tap->operations->added(tap, settings);
}

/* The worker passes nothing of the target to outputs any more. */
static void fleet__remove(struct fleet *fleet, struct target *target)
{
	const struct target_settings *settings = target__settings(target);
	struct sink *sink = fleet->context->sink;
	struct tap *tap = fleet->context->tap;

	target__role(target)->is_known = false;
	if (sink->operations->removed)
		sink->operations->removed(sink, settings);
	if (tap)
		tap->operations->removed(tap, settings);
}

static int fleet__start(void *data, const struct target_settings *settings, struct target **target)
{
	struct fleet *fleet = data;
	int err;

	err = target__new(fleet->context, settings, target);
	if (!err && !settings->standby_ns)
		fleet__add(fleet, *target);
	return err;
}

/* In the worker of the target, after its last scrape. */
static void leave(struct work *work)
{
	struct leaving *leaving = caa_container_of(work, struct leaving, work);
	struct fleet *fleet = leaving->fleet;

	pthread_mutex_lock(&fleet->lock);
	STAILQ_INSERT_TAIL(&fleet->done, leaving, place);
	pthread_mutex_unlock(&fleet->lock);
	eventfd_write(fleet->left_fd, 1);
}

/* @target finished and nobody wants it any more: handed over after its last scrape. */
static void fleet__hand_over(struct fleet *fleet, struct target *target, bool was_finished)
{
	struct leaving *leaving = calloc(1, sizeof(*leaving));

	if (!leaving) {
		/* It stays until the program ends, which is soon. */
		sd_event_exit(fleet->context->event, -ENOMEM);
		return;
	}
	leaving->work.run = leave;
	leaving->fleet = fleet;
	leaving->target = target;
	leaving->index = target__settings(target)->index;
	leaving->was_finished = was_finished;
	workers__hand_over_always(fleet->context->workers, leaving->index, &leaving->work);
}

/* Makes outputs get the target exactly if it is to be scraped. */
static void fleet__settle_role(struct fleet *fleet, struct target *target)
{
	struct target_role *role = target__role(target);
	struct leaving *leaving;

	if (role->is_leaving || role->is_known == !role->standby_ns)
		return;
	if (!role->standby_ns) {
		fleet__add(fleet, target);
		target__mute(target, false);
		return;
	}
	leaving = calloc(1, sizeof(*leaving));
	if (!leaving) {
		sd_event_exit(fleet->context->event, -ENOMEM);
		return;
	}
	role->is_leaving = true;
	target__mute(target, true);
	leaving->work.run = leave;
	leaving->fleet = fleet;
	leaving->target = target;
	leaving->stands_by = true;
	workers__hand_over_always(fleet->context->workers, target__settings(target)->index,
				  &leaving->work);
}

static void fleet__change(void *data, struct target *target, uint64_t standby_ns)
{
	target__change(target, standby_ns);
	fleet__settle_role(data, target);
}

static void fleet__end(void *data, struct target *target)
{
	struct fleet *fleet = data;
	const bool is_finished = target__is_finished(target);

	target__stop(target);
	if (is_finished)
		fleet__hand_over(fleet, target, true);
}

static void on_finished(struct target_context *context, struct target *target, int result)
{
	struct fleet *fleet = context->fleet;

	if (target_set__is_ending(fleet->set, target__settings(target)->index)) {
		fleet__hand_over(fleet, target, false);
		return;
	}
	if (!fleet->result)
		fleet->result = result;
	fleet->finished++;
	/* An unreachable target does not stop the others; an error does. */
	if (result && result != -EHOSTUNREACH)
		sd_event_exit(context->event, 0);
	else
		fleet__end_if_done(fleet);
}

static void print_summary(const char *name, const struct summary *summary, struct output *log)
{
	const struct latency *latency = &summary->decoded;
	char costs[256] = "";

	if (summary->scrapes)
		snprintf(
			costs, sizeof(costs),
			"; %.1f READs, %.0f bytes each; latency in us: min %.1f, p50 %.1f, p90 %.1f, p99 %.1f, max %.1f",
			(double)summary->reads / summary->scrapes,
			(double)summary->bytes / summary->scrapes, latency->min / 1e3,
			latency__percentile(latency, 50) / 1e3,
			latency__percentile(latency, 90) / 1e3,
			latency__percentile(latency, 99) / 1e3, latency->max / 1e3);
	output__print(
		log,
		"dart-controller: %s: %llu scrapes, %llu failed, %llu missed, %llu discarded, %llu dropped%s",
		name, (unsigned long long)summary->scrapes, (unsigned long long)summary->failed,
		(unsigned long long)summary->missed, (unsigned long long)summary->discarded,
		(unsigned long long)(summary->dropped + summary->unwritten), costs);
}

/* @is_last: the program ends. */
static void fleet__summarize_one(struct fleet *fleet, struct target *target, bool to_log,
				 bool is_last)
{
	const struct target_settings *settings = target__settings(target);
	const struct summary *summary = target__summary(target);
	struct sink *sink = fleet->context->sink;

	if (to_log)
		print_summary(settings->name, summary, fleet->context->log);
	else if (sink->operations->summary && target__role(target)->is_known)
		sink->operations->summary(sink, settings, summary, is_last);
}

void fleet__summarize(struct fleet *fleet, bool to_log)
{
	struct target *target;
	size_t i;

	for (i = 0; i < target_set__end_index(fleet->set); i++) {
		target = target_set__target(fleet->set, i);
		if (target)
			fleet__summarize_one(fleet, target, to_log, true);
	}
}

/* No thread refers to the target any more. */
static void fleet__forget(struct fleet *fleet, struct leaving *leaving)
{
	struct target_context *context = fleet->context;
	struct target *target = leaving->target;

	fleet__summarize_one(fleet, target, false, false);
	if (!context->options->once && !context->sink->owns_terminal)
		fleet__summarize_one(fleet, target, true, false);
	if (target__role(target)->is_known)
		fleet__remove(fleet, target);
	fleet->finished -= leaving->was_finished;
	target__free(target);
	target_set__ended(fleet->set, leaving->index);
	sd_event_source_set_enabled(fleet->work, SD_EVENT_ON);
	free(leaving);
}

/* The worker passed the last scrape that outputs get. */
static void fleet__take_leave(struct fleet *fleet, struct leaving *leaving)
{
	struct target *target = leaving->target;

	target__role(target)->is_leaving = false;
	fleet__remove(fleet, target);
	fleet__settle_role(fleet, target);
	free(leaving);
}

static void on_drained(void *data)
{
	struct fleet *fleet = data;
	struct leaving_list left = STAILQ_HEAD_INITIALIZER(left);
	struct leaving *leaving;

	STAILQ_CONCAT(&left, &fleet->draining);
	while ((leaving = STAILQ_FIRST(&left))) {
		STAILQ_REMOVE_HEAD(&left, place);
		if (leaving->stands_by)
			fleet__take_leave(fleet, leaving);
		else if (target__is_draining(leaving->target))
			STAILQ_INSERT_TAIL(&fleet->draining, leaving, place);
		else
			fleet__forget(fleet, leaving);
	}
	if (!STAILQ_EMPTY(&fleet->draining))
		timer__set(&fleet->drain_timer, DRAIN_US);
}

static int on_left(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct fleet *fleet = data;
	eventfd_t count;

	eventfd_read(fd, &count);
	pthread_mutex_lock(&fleet->lock);
	STAILQ_CONCAT(&fleet->draining, &fleet->done);
	pthread_mutex_unlock(&fleet->lock);
	on_drained(fleet);
	return 0;
}

static int on_work(sd_event_source *source, void *data)
{
	struct fleet *fleet = data;
	int ret;

	ret = target_set__work(fleet->set, BATCH);
	if (ret < 0)
		return sd_event_exit(fleet->context->event, ret);
	if (!ret) {
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		fleet__end_if_done(fleet);
	}
	return 0;
}

static void on_want(void *data, const struct target_list *list)
{
	struct fleet *fleet = data;
	struct target_context *context = fleet->context;

	context->target_count = list->count;
	context->is_capacity_told = false;
	output__set_bound(fleet->output, OUTPUT_BYTES + list->count * OUTPUT_TARGET_BYTES);
	output__set_bound(context->log, OUTPUT_BYTES + list->count * OUTPUT_TARGET_BYTES);
	if (target_set__want(fleet->set, list))
		sd_event_exit(context->event, -ENOMEM);
	sd_event_source_set_enabled(fleet->work, SD_EVENT_ON);
}

static void on_say(void *data, const char *sentence)
{
	struct fleet *fleet = data;

	if (!fleet->context->sink->owns_terminal)
		output__print(fleet->context->log, "dart-controller: %s", sentence);
	/* The only news of a source may be that somebody looked at it. */
	sd_event_source_set_enabled(fleet->work, SD_EVENT_ON);
}

static int fleet__open_sources(struct fleet *fleet)
{
	sd_event *event = fleet->context->event;
	int err;

	fleet->left_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fleet->left_fd < 0)
		return -errno;
	err = sd_event_add_io(event, &fleet->left, fleet->left_fd, EPOLLIN, on_left, fleet);
	if (err >= 0)
		err = sd_event_add_defer(event, &fleet->work, on_work, fleet);
	return err < 0 ? err : 0;
}

static void on_reloaded(void *data, bool is_refused)
{
	const struct fleet *fleet = data;

	if (fleet->context->condition)
		condition__set_configuration(fleet->context->condition, is_refused);
}

static void on_configured(void *data, const struct output_settings *outputs)
{
	const struct fleet *fleet = data;

	if (fleet->context->configured)
		fleet->context->configured(fleet->context, outputs);
}

static void on_separated(void *data, size_t count)
{
	const struct fleet *fleet = data;

	if (fleet->context->condition)
		condition__set_equal_labels(fleet->context->condition, count);
}

static void on_dropped(void *data, size_t count)
{
	const struct fleet *fleet = data;

	if (fleet->context->condition)
		condition__set_dropped(fleet->context->condition, count);
}

static void on_sharded(void *data, const struct membership *membership,
		       const struct shard_parts *parts, bool is_failing)
{
	const struct fleet *fleet = data;

	if (fleet->context->condition)
		condition__set_shard(fleet->context->condition, membership, parts, is_failing);
}

static void on_valid(void *data, uint64_t until_ns)
{
	const struct fleet *fleet = data;

	validity__set(&fleet->context->validity, until_ns);
}

/* ---- the end of a member, whose targets others take over */

/* The longest time between two scrapes of a target, in which whoever takes over scrapes it once. */
static uint64_t fleet__longest_interval_ns(const struct fleet *fleet)
{
	struct target *target;
	uint64_t longest_ns = 0;
	size_t i;

	for (i = 0; i < target_set__end_index(fleet->set); i++) {
		target = target_set__target(fleet->set, i);
		/* Most targets that are scraped were on standby when they began. */
		if (target && !target__role(target)->standby_ns &&
		    target__settings(target)->interval_ns > longest_ns)
			longest_ns = target__settings(target)->interval_ns;
	}
	return longest_ns;
}

static void on_end(void *data)
{
	const struct fleet *fleet = data;

	sd_event_exit(fleet->context->event, 0);
}

/* All other members use a list without this one. */
static void on_taken_over(void *data)
{
	struct fleet *fleet = data;
	const uint64_t end_ns = monotonic_ns() + fleet__longest_interval_ns(fleet);

	if (fleet->leave_ns && end_ns < fleet->leave_ns) {
		fleet->leave_ns = 0;
		timer__set_at(&fleet->end_timer, end_ns);
	}
}

bool fleet__leave(struct fleet *fleet)
{
	struct shard_parts parts;
	const struct membership *membership;
	const char *error;
	uint64_t wait_ns;

	if (!fleet || fleet__is_limited(fleet) || !discovery__leave(fleet->discovery))
		return false;
	membership = discovery__membership(fleet->discovery, &parts, &error);
	wait_ns = membership->shard.handover_ns ?: SHARD_HANDOVER_DEFAULT_NS;
	if (!fleet->context->sink->owns_terminal)
		output__print(fleet->context->log,
			      "dart-controller: hands its %zu agents over to the other members",
			      parts.own);
	fleet->leave_ns = monotonic_ns() + wait_ns;
	timer__set_at(&fleet->end_timer, fleet->leave_ns);
	return true;
}

int fleet__new(struct target_context *context, struct output *output, struct fleet **fleetp,
	       struct dart_error *error)
{
	static const struct target_set_operations set_operations = {
		.start = fleet__start,
		.end = fleet__end,
		.change = fleet__change,
	};
	const struct options *options = context->options;
	struct fleet *fleet = calloc(1, sizeof(*fleet));
	int err;

	if (!fleet)
		return dart_error__no_memory(error);
	fleet->context = context;
	fleet->output = output;
	fleet->left_fd = -1;
	fleet->discovery_operations = (struct discovery_operations){
		.want = on_want,
		.say = on_say,
		.reloaded = on_reloaded,
		.configured = on_configured,
		.separated = on_separated,
		.dropped = on_dropped,
		.sharded = on_sharded,
		.valid = on_valid,
		.left = on_taken_over,
		/* It ends after so many scrapes for outputs, of which a standby has none. */
		.never_stands_by = fleet__is_limited(fleet),
	};
	STAILQ_INIT(&fleet->done);
	STAILQ_INIT(&fleet->draining);
	pthread_mutex_init(&fleet->lock, NULL);
	timer__init(&fleet->drain_timer, context->timers, on_drained, fleet);
	timer__init(&fleet->end_timer, context->timers, on_end, fleet);
	fleet->set = target_set__new(&set_operations, fleet);
	err = fleet->set ? fleet__open_sources(fleet) : -ENOMEM;
	if (err)
		dart_error__system(error, -err, "cannot set up the event loop");
	context->fleet = fleet;
	context->finished = on_finished;
	if (!err)
		err = discovery__new(context->event, &options->own, &options->settings,
				     options->config, &fleet->discovery_operations, fleet,
				     &fleet->discovery, error);
	if (err) {
		fleet__free(fleet);
		return err;
	}
	*fleetp = fleet;
	return 0;
}

void fleet__free(struct fleet *fleet)
{
	struct leaving *leaving;
	size_t i;

	if (!fleet)
		return;
	discovery__free(fleet->discovery);
	for (i = 0; fleet->set && i < target_set__end_index(fleet->set); i++)
		target__free(target_set__target(fleet->set, i));
	target_set__free(fleet->set);
	/* The targets were freed with those of the set. */
	STAILQ_CONCAT(&fleet->draining, &fleet->done);
	while ((leaving = STAILQ_FIRST(&fleet->draining))) {
		STAILQ_REMOVE_HEAD(&fleet->draining, place);
		free(leaving);
	}
	timer__stop(&fleet->drain_timer);
	timer__stop(&fleet->end_timer);
	sd_event_source_disable_unref(fleet->work);
	sd_event_source_disable_unref(fleet->left);
	if (fleet->left_fd >= 0)
		close(fleet->left_fd);
	pthread_mutex_destroy(&fleet->lock);
	free(fleet);
}

void fleet__reload(struct fleet *fleet)
{
	discovery__reload(fleet->discovery);
}

bool fleet__is_ready(struct fleet *fleet)
{
	const struct target_context *context = fleet->context;
	const bool is_ready = discovery__is_complete(fleet->discovery) &&
			      target_set__is_settled(fleet->set) &&
			      context->capacity.targets >= context->target_count;
	const struct membership *membership;
	struct shard_parts parts;
	const char *error;

	/* Until the controller has read a list of members, it has no targets. */
	membership = discovery__membership(fleet->discovery, &parts, &error);
	fleet->was_ready |= is_ready && (membership->is_known || !membership->is_listed);
	return fleet->was_ready || is_ready;
}

int fleet__result(const struct fleet *fleet)
{
	return fleet->result;
}

const struct target_set *fleet__targets(const struct fleet *fleet)
{
	return fleet->set;
}

const struct discovery *fleet__discovery(const struct fleet *fleet)
{
	return fleet->discovery;
}

struct unreached *fleet__unreached(struct fleet *fleet)
{
	return &fleet->unreached;
}
