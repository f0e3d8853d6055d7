// SPDX-License-Identifier: GPL-2.0-only
/* Passes over records: questions to programs, answers into rows. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <libdart/clock.h>
#include "agent/base/host.h"
#include "agent/base/log.h"
#include "answers.h"
#include "gathering.h"
#include "own_sample.h"

/* The time after which a deferrable pass wakes an idle CPU nevertheless: one hour. */
#define SLACK_NS 3600000000000UL

TAILQ_HEAD(records_of_program, record);

/* All records of one interval. */
struct gatherer {
	TAILQ_ENTRY(gatherer) link;
	uint32_t interval_ms;
	bool is_deferrable; /* its passes do not wake an idle CPU */
	uint64_t due; /* ns, CLOCK_MONOTONIC */
	struct dart_zero_gathering cost;
	struct record *next; /* of the pass that is running, or NULL */
	int program; /* of the pass: the index of the list after that of @next */
	uint32_t record_count;
	/* By the index of the program, and one list for the records without a program. */
	struct records_of_program records[];
};

static uint64_t monotonic(void)
{
	return dart_clock__ns(CLOCK_MONOTONIC);
}

/* The index of the program that gathers @record; subject__program_count() for none. */
static int program_of(const struct record *record)
{
	const struct subject *subject = subject__find(record->question.source);

	return subject && subject->program >= 0 ? subject->program : subject__program_count();
}

static struct records_of_program *list_of(struct gatherer *gatherer, const struct record *record)
{
	return &gatherer->records[program_of(record)];
}

static void tell_gone(struct gathering *gathering, struct record *record)
{
	record->is_gone = true;
	gathering->handlers->on_gone(gathering->owner, record->id);
}

/* The file of the kernel is read only for records that need it, once in a pass. */
static const uint64_t *online_cpus(struct gathering *gathering)
{
	if (!gathering->is_online_read &&
	    host__read_online_cpus(gathering->online_fd, gathering->online, gathering->cpus))
		log__warning("cannot read which CPUs are online");
	gathering->is_online_read = true;
	return gathering->online;
}

/* Records whose values programs are asked for, in the order of their questions. */
struct batch {
	struct gathering *gathering;
	struct gatherer *gatherer;
	struct record *const *records;
};

static void take_answer(void *owner, uint32_t index)
{
	const struct batch *batch = owner;
	struct gathering *gathering = batch->gathering;
	const struct gather_question *question = &gathering->programs.exchange->questions[index];
	struct dart_zero_gathering *cost = &batch->gatherer->cost;
	struct record *record = batch->records[index];
	const uint64_t *online = NULL;

	record->question.identity = question->identity;
	switch (question->answer) {
	case GATHER_VALUES:
		if (answers__are_by_cpu(question, record))
			online = online_cpus(gathering);
		answers__write(gathering->programs.exchange, question, online, record);
		cost->records++;
		break;
	case GATHER_ABSENT:
		record__finish(record, 0);
		cost->records++;
		break;
	case GATHER_ENDED:
		tell_gone(gathering, record);
		break;
	}
}

/* Asks for the values of @count records. */
static void ask(struct gathering *gathering, struct gatherer *gatherer,
		struct record *const *records, uint32_t count)
{
	struct gather_exchange *exchange = gathering->programs.exchange;
	struct batch batch = {
		.gathering = gathering,
		.gatherer = gatherer,
		.records = records,
	};
	uint32_t i;

	exchange->count = count;
	for (i = 0; i < count; i++)
		exchange->questions[i] = records[i]->question;
	gatherer->cost.stale += gather_programs__answer(&gathering->programs, take_answer, &batch);
}

/* Takes a sample, and makes sure that the values belong to the namespace of the record. */
static int take_own(struct gathering *gathering, struct own_sample *own, uint32_t index,
		    void *values, uint64_t *number, uint64_t *time)
{
	int ret = own->kind->sample(own, index, values, number, time);

	if (ret || !own->netns)
		return ret;
	return namespace_list__confirm(&gathering->namespaces, &gathering->programs, own->netns,
				       &own->identity, *time);
}

static void sample_by_itself(struct gathering *gathering, struct gatherer *gatherer,
			     struct record *record)
{
	uint64_t values[GATHER_COPY_MAX / sizeof(uint64_t)], number = 0, time;
	uint32_t i, row = 0;
	int ret = 0;

	for (i = 0; i < record->rows && ret != -EAGAIN && ret != -ENODEV; i++) {
		memset(values, 0, subject__find(record->question.source)->length);
		time = dart_clock__ns(CLOCK_BOOTTIME);
		ret = take_own(gathering, record->own, i, values, &number, &time);
		if (!ret)
			record__write(record, row++, time, number, (uint8_t *)values, 1, 0);
	}
	if (ret == -ENODEV) {
		tell_gone(gathering, record);
	} else if (ret == -EAGAIN) {
		/* Earlier rows may be written: the next pass needs another sequence. */
		record__finish(record, record->used_rows);
		gatherer->cost.stale++;
	} else {
		record__finish(record, row);
		gatherer->cost.records++;
	}
}

/* Writes the cost of the gatherer into its record of SOURCE_GATHERING. */
static void write_cost(struct gatherer *gatherer, struct record *record)
{
	record__write(record, 0, dart_clock__ns(CLOCK_BOOTTIME), 0,
		      (const uint8_t *)&gatherer->cost, 1, 0);
	record__finish(record, 1);
	gatherer->cost.records++;
}

static void gather_without_program(struct gathering *gathering, struct gatherer *gatherer,
				   struct record *record)
{
	if (record->is_gone)
		return;
	if (record->own)
		sample_by_itself(gathering, gatherer, record);
	else
		write_cost(gatherer, record);
}

/*
 * Takes the next records of the pass, at most GATHER_QUESTIONS, of one program after the other; skips
 * records that ended.
 */
static uint32_t take_batch(struct gatherer *gatherer, struct record **records)
{
	uint32_t count = 0;

	while (count < GATHER_QUESTIONS) {
		if (!gatherer->next) {
			if (gatherer->program == subject__program_count())
				break;
			gatherer->next = TAILQ_FIRST(&gatherer->records[gatherer->program++]);
			continue;
		}
		if (!gatherer->next->is_gone)
			records[count++] = gatherer->next;
		gatherer->next = TAILQ_NEXT(gatherer->next, link);
	}
	return count;
}

/* Releases the lock between two batches, so that other threads can take it. */
static void yield_lock(struct gathering *gathering)
{
	pthread_mutex_unlock(&gathering->lock);
	pthread_mutex_lock(&gathering->lock);
}

static void gather_by_programs(struct gathering *gathering, struct gatherer *gatherer)
{
	struct record *batch[GATHER_QUESTIONS];
	uint32_t count;

	gatherer->next = NULL;
	gatherer->program = 0;
	while ((count = take_batch(gatherer, batch))) {
		ask(gathering, gatherer, batch, count);
		yield_lock(gathering);
	}
}

static void gather_without_programs(struct gathering *gathering, struct gatherer *gatherer)
{
	struct record *record;

	gatherer->next = TAILQ_FIRST(&gatherer->records[subject__program_count()]);
	while ((record = gatherer->next)) {
		gatherer->next = TAILQ_NEXT(record, link);
		gather_without_program(gathering, gatherer, record);
		yield_lock(gathering);
	}
}

/* Passes follow the clock.  A pass whose time is over is skipped and counted. */
static void next_due(struct gatherer *gatherer)
{
	const uint64_t interval = gatherer->interval_ms * UINT64_C(1000000);
	const uint64_t now = monotonic();
	uint64_t missed;

	gatherer->due += interval;
	if (gatherer->due > now)
		return;
	missed = (now - gatherer->due) / interval + 1;
	gatherer->cost.missed += missed;
	gatherer->due += missed * interval;
}

int gathering__namespaces(struct gathering *gathering, bool is_watched, uint32_t **inodes,
			  uint32_t *count)
{
	int ret;

	pthread_mutex_lock(&gathering->lock);
	ret = namespace_list__read(&gathering->namespaces, &gathering->programs, is_watched, inodes,
				   count);
	pthread_mutex_unlock(&gathering->lock);
	return ret;
}

static void pass(struct gathering *gathering, struct gatherer *gatherer)
{
	struct dart_zero_gathering *cost = &gatherer->cost;
	const uint64_t start = monotonic();
	uint64_t time;

	gathering->is_online_read = false;
	gather_by_programs(gathering, gatherer);
	gather_without_programs(gathering, gatherer);
	if (namespace_list__has_changed(&gathering->namespaces, &gathering->programs))
		gathering->handlers->on_namespaces(gathering->owner);
	time = monotonic() - start;
	cost->passes++;
	cost->time_ns += time;
	if (cost->longest_ns < time)
		cost->longest_ns = time;
	next_due(gatherer);
}

/* When the first pass is due, of intervals that are deferrable or not; UINT64_MAX: none is. */
static uint64_t first_due(const struct gathering *gathering, bool is_deferrable)
{
	const struct gatherer *gatherer;
	uint64_t due = UINT64_MAX;

	TAILQ_FOREACH(gatherer, &gathering->gatherers, link)
		if (gatherer->is_deferrable == is_deferrable && gatherer->due < due)
			due = gatherer->due;
	return due;
}

/* @due: UINT64_MAX turns the timer off. */
static void set_timer_to(const struct gathering *gathering, uint64_t due)
{
	struct itimerspec timer = {};

	if (due != UINT64_MAX) {
		timer.it_value.tv_sec = due / 1000000000;
		timer.it_value.tv_nsec = due % 1000000000;
	}
	timerfd_settime(gathering->timer, TFD_TIMER_ABSTIME, &timer, NULL);
}

static void set_timer(const struct gathering *gathering)
{
	set_timer_to(gathering, first_due(gathering, false));
}

static struct gatherer *find_due(const struct gathering *gathering, uint64_t now)
{
	struct gatherer *gatherer;

	TAILQ_FOREACH(gatherer, &gathering->gatherers, link)
		if (gatherer->due <= now)
			return gatherer;
	return NULL;
}

static void gatherer__free_if_empty(struct gathering *gathering, struct gatherer *gatherer)
{
	if (gatherer->record_count)
		return;
	TAILQ_REMOVE(&gathering->gatherers, gatherer, link);
	free(gatherer);
}

static void gather_due(struct gathering *gathering)
{
	const uint64_t now = monotonic();
	struct gatherer *gatherer;

	pthread_mutex_lock(&gathering->lock);
	while ((gatherer = find_due(gathering, now))) {
		/* Keeps the gatherer if the pass removes its last record. */
		gatherer->record_count++;
		pass(gathering, gatherer);
		gatherer->record_count--;
		gatherer__free_if_empty(gathering, gatherer);
	}
	set_timer(gathering);
	pthread_mutex_unlock(&gathering->lock);
}

/*
 * Waits for the timer, for the end, or until a deferrable pass is due.  The kernel lets a wait with
 * slack end by a timer that fires anyway, and programs no timer for it before the slack is over, so
 * an idle CPU remains idle.
 */
static void wait_for_pass(struct pollfd *wait, uint64_t due)
{
	const uint64_t now = monotonic();
	const uint64_t left = due > now ? due - now : 0;
	const struct timespec timeout = {
		.tv_sec = left / 1000000000,
		.tv_nsec = left % 1000000000,
	};

	if (due == UINT64_MAX) {
		ppoll(wait, 2, NULL, NULL);
		return;
	}
	prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
	ppoll(wait, 2, &timeout, NULL);
	prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0); /* as before */
}

static void *gather(void *argument)
{
	struct gathering *gathering = argument;
	struct pollfd wait[] = {
		{ .fd = gathering->timer, .events = POLLIN },
		{ .fd = gathering->end, .events = POLLIN },
	};
	uint64_t expirations, due;

	for (;;) {
		pthread_mutex_lock(&gathering->lock);
		due = first_due(gathering, true);
		pthread_mutex_unlock(&gathering->lock);
		wait_for_pass(wait, due);
		if (wait[1].revents)
			return NULL;
		if (read(gathering->timer, &expirations, sizeof(expirations)) > 0 ||
		    due <= monotonic())
			gather_due(gathering);
	}
}

static int start_thread(struct gathering *gathering)
{
	sigset_t all, before;
	int ret;

	/* Only the main loop of dartd takes signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&gathering->thread, NULL, gather, gathering);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ret)
		pthread_setname_np(gathering->thread, "gather");
	return -ret;
}

int gathering__open(struct gathering *gathering, uint32_t cpus,
		    const struct gathering_handlers *handlers, void *owner,
		    struct dart_error *error)
{
	int ret;

	*gathering = (struct gathering){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.cpus = cpus,
		.handlers = handlers,
		.owner = owner,
		.online = calloc(cpus / 64 + 1, sizeof(*gathering->online)),
		.online_fd = host__open_online_cpus(),
		.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
		.end = eventfd(0, EFD_CLOEXEC),
	};
	TAILQ_INIT(&gathering->gatherers);
	if (!gathering->online || gathering->timer < 0 || gathering->end < 0) {
		ret = dart_error__system(error, gathering->online ? errno : ENOMEM,
					 "cannot create the timer of the gatherer");
		goto close_files;
	}
	ret = gather_programs__open(&gathering->programs, cpus, error);
	if (ret)
		goto close_files;
	ret = start_thread(gathering);
	if (!ret)
		return 0;
	dart_error__system(error, -ret, "cannot start the thread that gathers");
	gather_programs__close(&gathering->programs);

close_files:
	if (gathering->end >= 0)
		close(gathering->end);
	if (gathering->timer >= 0)
		close(gathering->timer);
	if (gathering->online_fd >= 0)
		close(gathering->online_fd);
	free(gathering->online);
	return ret;
}

void gathering__close(struct gathering *gathering)
{
	eventfd_write(gathering->end, 1);
	pthread_join(gathering->thread, NULL);
	namespace_list__free(&gathering->namespaces);
	gather_programs__close(&gathering->programs);
	close(gathering->end);
	close(gathering->timer);
	if (gathering->online_fd >= 0)
		close(gathering->online_fd);
	free(gathering->online);
	pthread_mutex_destroy(&gathering->lock);
}

static struct gatherer *gatherer__find(const struct gathering *gathering, uint32_t interval_ms,
				       bool is_deferrable)
{
	struct gatherer *gatherer;

	TAILQ_FOREACH(gatherer, &gathering->gatherers, link)
		if (gatherer->interval_ms == interval_ms &&
		    gatherer->is_deferrable == is_deferrable)
			return gatherer;
	return NULL;
}

static struct gatherer *gatherer__new(uint32_t interval_ms, bool is_deferrable)
{
	const int lists = subject__program_count() + 1;
	struct gatherer *gatherer =
		calloc(1, sizeof(*gatherer) + lists * sizeof(gatherer->records[0]));
	int i;

	if (!gatherer)
		return NULL;
	gatherer->interval_ms = interval_ms;
	gatherer->is_deferrable = is_deferrable;
	gatherer->due = monotonic();
	next_due(gatherer);
	for (i = 0; i < lists; i++)
		TAILQ_INIT(&gatherer->records[i]);
	return gatherer;
}

/*
 * Inserts @record into its list, in the order of network namespaces, which the program visits in
 * one walk.  New records mostly belong at the end.
 */
static void insert(struct records_of_program *records, struct record *record)
{
	struct record *before = TAILQ_LAST(records, records_of_program);

	while (before && before->question.netns > record->question.netns)
		before = TAILQ_PREV(before, records_of_program, link);
	if (before)
		TAILQ_INSERT_AFTER(records, before, record, link);
	else
		TAILQ_INSERT_HEAD(records, record, link);
}

int gathering__statistics(struct gathering *gathering, uint32_t netns, uint32_t ifindex,
			  enum gather_statistics *statistics)
{
	int ret;

	pthread_mutex_lock(&gathering->lock);
	ret = gather_programs__statistics(&gathering->programs, netns, ifindex, statistics);
	pthread_mutex_unlock(&gathering->lock);
	return ret;
}

static void gather_first(struct gathering *gathering, struct gatherer *gatherer,
			 struct record *record)
{
	gathering->is_online_read = false;
	if (program_of(record) < subject__program_count())
		ask(gathering, gatherer, &record, 1);
	else
		gather_without_program(gathering, gatherer, record);
}

int gathering__add(struct gathering *gathering, struct record *record, uint32_t interval_ms,
		   bool is_deferrable)
{
	struct gatherer *gatherer;
	bool is_gone;

	pthread_mutex_lock(&gathering->lock);
	gatherer = gatherer__find(gathering, interval_ms, is_deferrable);
	if (!gatherer) {
		gatherer = gatherer__new(interval_ms, is_deferrable);
		if (!gatherer) {
			record__displace(record);
			pthread_mutex_unlock(&gathering->lock);
			return -ENOMEM;
		}
		TAILQ_INSERT_TAIL(&gathering->gatherers, gatherer, link);
	}
	record->gatherer = gatherer;
	gatherer->record_count++;
	insert(list_of(gatherer, record), record);
	record->question.program = program_of(record);
	gather_first(gathering, gatherer, record);
	is_gone = record->is_gone;
	/* The thread waits for deferrable passes without the timer, which makes it wait anew. */
	if (is_deferrable)
		set_timer_to(gathering, monotonic());
	else
		set_timer(gathering);
	pthread_mutex_unlock(&gathering->lock);
	if (is_gone)
		gathering__remove(gathering, record);
	return is_gone ? -ENODEV : 0;
}

void gathering__remove(struct gathering *gathering, struct record *record)
{
	struct gatherer *gatherer = record->gatherer;

	pthread_mutex_lock(&gathering->lock);
	if (gatherer->next == record)
		gatherer->next = TAILQ_NEXT(record, link);
	TAILQ_REMOVE(list_of(gatherer, record), record, link);
	gatherer->record_count--;
	gatherer__free_if_empty(gathering, gatherer);
	record__displace(record);
	pthread_mutex_unlock(&gathering->lock);
}
