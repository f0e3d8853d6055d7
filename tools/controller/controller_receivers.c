// SPDX-License-Identifier: GPL-2.0-only
/* Opens and ends receivers, also while the controller runs: see controller_receivers.h. */
#include "controller_receivers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <urcu/compiler.h>

#include "metrics/plan/plan_relabel.h"
#include "metrics/sink_metrics.h"
#include "push/push.h"

/* In the queue of each worker: all work before may use the receiver. */
struct mark {
	struct work work;
	struct receiver *receiver;
};

struct receiver {
	struct controller_receivers *receivers;
	struct receiver_settings settings;
	struct relabel_rules *rules; /* now, held; NULL: none */
	struct metric_output *output; /* NULL: it begins when another one has ended */
	bool is_leaving; /* the sink does not own it any more */
	struct mark *marks;
	atomic_uint users; /* workers that may use it */
	sd_event_source *ended;
};

static void on_used(struct work *work)
{
	struct receiver *receiver = caa_container_of(work, struct mark, work)->receiver;
	const int fd = receiver->receivers->used_fd;

	/* It may be freed as soon as it has no user. */
	if (atomic_fetch_sub(&receiver->users, 1) == 1)
		eventfd_write(fd, 1);
}

static void receiver__free(struct receiver *receiver)
{
	if (!receiver)
		return;
	sd_event_source_disable_unref(receiver->ended);
	relabel_rules__release(receiver->rules);
	receiver_settings__clear(&receiver->settings);
	free(receiver->marks);
	free(receiver);
}

/* From now on its output sends series as @rules leave them.  Returns 0 or -ENOMEM. */
static int receiver__set_rules(struct receiver *receiver, struct relabel_rules *rules)
{
	struct metric_rewriter *rewriter = NULL;

	if (!relabel_rules__is_empty(rules)) {
		rewriter = plan_rewriter__new(rules);
		if (!rewriter)
			return -ENOMEM;
	}
	push__set_rewriter(receiver->output, rewriter);
	if (rewriter)
		rewriter->release(rewriter);
	relabel_rules__hold(rules);
	relabel_rules__release(receiver->rules);
	receiver->rules = rules;
	return 0;
}

/* Without an output. */
static struct receiver *receiver__new(struct controller_receivers *receivers,
				      const struct receiver_settings *settings)
{
	struct receiver *receiver = calloc(1, sizeof(*receiver));
	int err;

	if (!receiver)
		return NULL;
	receiver->receivers = receivers;
	err = receiver_settings__copy(&receiver->settings, settings);
	receiver->marks = calloc(SETTINGS_WORKERS_MAX, sizeof(*receiver->marks));
	if (!err && receiver->marks)
		return receiver;
	receiver__free(receiver);
	return NULL;
}

static int receiver__open(struct receiver *receiver, struct dart_error *error)
{
	struct controller_receivers *receivers = receiver->receivers;
	struct metric_output *output;
	int err;

	err = push__new(&receiver->settings, receivers->log, &output, error);
	if (err)
		return err;
	receiver->output = output;
	push__set_validity(output, receivers->validity);
	err = receiver__set_rules(receiver, receiver->settings.write_relabel) ?:
		      output_list__add(receivers->list, push__figures, output);
	if (!err)
		return 0;
	output->operations->free(output);
	receiver->output = NULL;
	return dart_error__no_memory(error);
}

static void say(const struct controller_receivers *receivers, const struct receiver *receiver,
		const char *news)
{
	char *name = receiver_settings__name(&receiver->settings);

	output__print(receivers->log, "dart-controller: %s: %s", name ?: "a receiver", news);
	free(name);
}

int controller_receivers__open(struct controller_receivers *receivers,
			       const struct output_settings *settings, struct dart_error *error)
{
	struct receiver *receiver;
	size_t i;
	int err;

	receivers->used_fd = -1;
	for (i = 0; i < settings->receiver_count; i++) {
		receiver = receiver__new(receivers, &settings->receivers[i]);
		if (!receiver)
			return -ENOMEM;
		err = receiver__open(receiver, error);
		if (err) {
			receiver__free(receiver);
			return err;
		}
		receivers->all[receivers->count++] = receiver;
	}
	return 0;
}

size_t controller_receivers__outputs(const struct controller_receivers *receivers,
				     struct metric_output *outputs[static 2 * RECEIVERS_MAX])
{
	size_t i, count = 0;

	for (i = 0; i < receivers->count; i++)
		if (receivers->all[i]->output)
			outputs[count++] = receivers->all[i]->output;
	return count;
}

/* ---- changes */

static void controller_receivers__forget(struct controller_receivers *receivers,
					 const struct receiver *receiver)
{
	size_t i, kept = 0;

	for (i = 0; i < receivers->count; i++)
		if (receivers->all[i] != receiver)
			receivers->all[kept++] = receivers->all[i];
	receivers->count = kept;
}

/* Does another one that is about to end use the directory of its spool? */
static bool receiver__must_wait(const struct receiver *receiver)
{
	const struct controller_receivers *receivers = receiver->receivers;
	const struct receiver *other;
	size_t i;

	for (i = 0; receiver->settings.spool && i < receivers->count; i++) {
		other = receivers->all[i];
		if (other->is_leaving && other->settings.spool &&
		    !strcmp(other->settings.spool, receiver->settings.spool))
			return true;
	}
	return false;
}

/* Opens one that has waited; it is given up if that fails. */
static void receiver__begin_late(struct receiver *receiver)
{
	struct controller_receivers *receivers = receiver->receivers;
	struct dart_error error = {};
	int err = receiver__open(receiver, &error);

	if (!err) {
		sink_metrics__add(receivers->metrics, receiver->output);
		say(receivers, receiver, "begins");
		return;
	}
	say(receivers, receiver, *error.text ? error.text : strerror(-err));
	controller_receivers__forget(receivers, receiver);
	receiver__free(receiver);
}

static void controller_receivers__begin_late(struct controller_receivers *receivers)
{
	size_t i = 0;

	while (i < receivers->count) {
		struct receiver *receiver = receivers->all[i];

		if (!receiver->output && !receiver__must_wait(receiver))
			receiver__begin_late(receiver);
		/* It may be gone, and the next one is at its place. */
		i += i < receivers->count && receivers->all[i] == receiver;
	}
}

/* Its thread has ended, with or without the last samples. */
static int on_ended(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct receiver *receiver = data;
	struct controller_receivers *receivers = receiver->receivers;

	output_list__remove(receivers->list, receiver->output);
	receiver->output->operations->free(receiver->output);
	say(receivers, receiver, "has ended");
	controller_receivers__forget(receivers, receiver);
	receiver__free(receiver);
	controller_receivers__begin_late(receivers);
	return 0;
}

/* Workers are done with some. */
static int on_unused(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct controller_receivers *receivers = data;
	struct receiver *receiver;
	eventfd_t count;
	size_t i;
	int err;

	eventfd_read(fd, &count);
	for (i = 0; i < receivers->count; i++) {
		receiver = receivers->all[i];
		if (!receiver->is_leaving || atomic_load(&receiver->users) || receiver->ended)
			continue;
		push__end(receiver->output);
		err = sd_event_add_io(receivers->event, &receiver->ended,
				      push__event_fd(receiver->output), EPOLLIN, on_ended,
				      receiver);
		if (err < 0)
			return sd_event_exit(receivers->event, err);
	}
	return 0;
}

static void receiver__leave(struct receiver *receiver)
{
	struct controller_receivers *receivers = receiver->receivers;
	unsigned int i;

	/* It has not begun. */
	if (!receiver->output) {
		controller_receivers__forget(receivers, receiver);
		receiver__free(receiver);
		return;
	}
	receiver->is_leaving = true;
	sink_metrics__remove(receivers->metrics, receiver->output);
	atomic_store(&receiver->users, receivers->worker_count);
	for (i = 0; i < receivers->worker_count; i++) {
		receiver->marks[i] = (struct mark){ .work.run = on_used, .receiver = receiver };
		workers__hand_over_always(receivers->workers, i, &receiver->marks[i].work);
	}
	say(receivers, receiver, "ends: the configuration does not name it any more");
}

int controller_receivers__watch(struct controller_receivers *receivers, struct sink *metrics,
				sd_event *event, struct workers *workers, unsigned int worker_count)
{
	int err;

	receivers->used_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (receivers->used_fd < 0)
		return -errno;
	err = sd_event_add_io(event, &receivers->used, receivers->used_fd, EPOLLIN, on_unused,
			      receivers);
	if (err < 0)
		return err;
	receivers->metrics = metrics;
	receivers->event = event;
	receivers->workers = workers;
	receivers->worker_count = worker_count;
	return 0;
}

/* The settings that a receiver is to go on with: at its place, or else the first that are equal. */
static const struct receiver_settings *find_settings(const struct output_settings *settings,
						     const struct receiver *receiver, size_t place,
						     const bool taken[static RECEIVERS_MAX])
{
	size_t i;

	if (place < settings->receiver_count && !taken[place] &&
	    receiver_settings__equal(&settings->receivers[place], &receiver->settings))
		return &settings->receivers[place];
	for (i = 0; i < settings->receiver_count; i++)
		if (!taken[i] &&
		    receiver_settings__equal(&settings->receivers[i], &receiver->settings))
			return &settings->receivers[i];
	return NULL;
}

/* The changes of one reload: made if all of them can be. */
struct change {
	bool taken[RECEIVERS_MAX]; /* settings of receivers that run */
	const struct receiver_settings *now[2 * RECEIVERS_MAX]; /* of each receiver; NULL: it ends */
	struct receiver *begun[RECEIVERS_MAX];
	size_t begun_count, before;
};

static void change__find(struct change *change, const struct controller_receivers *receivers,
			 const struct output_settings *settings)
{
	const struct receiver *receiver;
	size_t i, place = 0;

	change->before = receivers->count;
	for (i = 0; i < receivers->count; i++) {
		receiver = receivers->all[i];
		if (receiver->is_leaving)
			continue;
		change->now[i] = find_settings(settings, receiver, place++, change->taken);
		if (change->now[i])
			change->taken[change->now[i] - settings->receivers] = true;
	}
}

/* One that ends has the spool of new settings. */
static bool change__frees(const struct change *change, const struct controller_receivers *receivers,
			  const struct receiver_settings *settings)
{
	const struct receiver *receiver;
	size_t i;

	for (i = 0; settings->spool && i < change->before; i++) {
		receiver = receivers->all[i];
		if (!change->now[i] && receiver->settings.spool &&
		    !strcmp(receiver->settings.spool, settings->spool))
			return true;
	}
	return false;
}

static int change__begin(struct change *change, struct controller_receivers *receivers,
			 const struct output_settings *settings, struct dart_error *error)
{
	struct receiver *receiver;
	size_t i;
	int err;

	for (i = 0; i < settings->receiver_count; i++) {
		if (change->taken[i])
			continue;
		if (receivers->count + change->begun_count == 2 * RECEIVERS_MAX)
			return dart_error__set(error, EAGAIN,
					       "too many receivers are about to end: try again");
		receiver = receiver__new(receivers, &settings->receivers[i]);
		if (!receiver)
			return dart_error__no_memory(error);
		change->begun[change->begun_count++] = receiver;
		/* If it could not begin then, the one that ends would be gone for nothing. */
		if (change__frees(change, receivers, &settings->receivers[i]))
			err = push__check(&settings->receivers[i], error);
		else
			err = receiver__open(receiver, error);
		if (err)
			return err;
	}
	return 0;
}

static void change__undo(struct change *change, struct controller_receivers *receivers)
{
	struct metric_output *output;

	while (change->begun_count) {
		output = change->begun[--change->begun_count]->output;
		if (output) {
			output_list__remove(receivers->list, output);
			output->operations->free(output);
		}
		receiver__free(change->begun[change->begun_count]);
	}
}

/* Rules of receivers that go on. */
static int change__relabel(const struct change *change, struct controller_receivers *receivers)
{
	struct receiver *receiver;
	size_t i;
	int err;

	for (i = 0; i < change->before; i++) {
		receiver = receivers->all[i];
		if (!change->now[i] || !receiver->output ||
		    relabel_rules__equal(change->now[i]->write_relabel, receiver->rules))
			continue;
		err = receiver__set_rules(receiver, change->now[i]->write_relabel);
		if (err)
			return err;
	}
	return 0;
}

int controller_receivers__want(struct controller_receivers *receivers,
			       const struct output_settings *settings, struct dart_error *error)
{
	struct receiver *receiver, *ending[2 * RECEIVERS_MAX];
	size_t i, ending_count = 0;
	struct change change = {};
	int err;

	if (!receivers->event)
		return settings->receiver_count ?
			       dart_error__set(
				       error, EINVAL,
				       "without an output of metrics at the start, receivers begin at the next start") :
			       0;
	change__find(&change, receivers, settings);
	for (i = 0; i < receivers->count; i++)
		if (!change.now[i] && !receivers->all[i]->is_leaving)
			ending[ending_count++] = receivers->all[i];
	err = change__begin(&change, receivers, settings, error);
	if (!err && change__relabel(&change, receivers))
		err = dart_error__no_memory(error);
	if (err) {
		change__undo(&change, receivers);
		return err;
	}
	for (i = 0; i < change.begun_count; i++) {
		receiver = change.begun[i];
		receivers->all[receivers->count++] = receiver;
		if (!receiver->output)
			continue;
		sink_metrics__add(receivers->metrics, receiver->output);
		say(receivers, receiver, "begins");
	}
	/* Afterwards, so that a scrape in between goes to both rather than to none. */
	for (i = 0; i < ending_count; i++)
		receiver__leave(ending[i]);
	return 0;
}

void controller_receivers__close(struct controller_receivers *receivers)
{
	struct receiver *receiver;

	while (receivers->count) {
		receiver = receivers->all[--receivers->count];
		if (receiver->output)
			output_list__remove(receivers->list, receiver->output);
		if (receiver->output && receiver->is_leaving)
			receiver->output->operations->free(receiver->output);
		receiver__free(receiver);
	}
	receivers->used = sd_event_source_disable_unref(receivers->used);
	if (receivers->event)
		close(receivers->used_fd);
	receivers->event = NULL;
}
