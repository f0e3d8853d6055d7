// SPDX-License-Identifier: GPL-2.0-only
/* When records are gathered: a pass over the records of each interval, and the thread that makes it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/base/log.h"
#include "gathering.h"

/*
 * A kill for memory causes an early pass over cgroups.  Early passes come at least 10 ms apart and
 * take at most a tenth of the time, because any user can have processes killed as often as the user
 * likes.
 */
#define EARLY_PAUSE_NS 10000000
#define EARLY_PAUSE_TIMES 9
/* The time after which a deferrable pass wakes an idle CPU nevertheless: one hour. */
#define SLACK_NS 3600000000000UL

TAILQ_HEAD(records_of_program, record);

/* All records of one interval. */
struct gatherer {
	TAILQ_ENTRY(gatherer) link;
	uint32_t interval_ms;
	bool is_deferrable; /* its passes do not wake an idle CPU */
	uint64_t due; /* ns, CLOCK_MONOTONIC */
	bool is_early; /* a pass over its cgroups comes before it is due */
	struct dart_zero_gathering cost;
	struct record *next; /* of the pass that is running, or NULL */
	int program; /* of the pass: the index of the list after that of @next */
	bool is_of_cgroups; /* the pass leaves out the other records */
	uint32_t record_count;
	/* By the index of the program, and one list for the records without a program. */
	struct records_of_program records[];
};

static uint64_t monotonic(void)
{
	return dart_clock__ns(CLOCK_MONOTONIC);
}

/*
 * Callers take the lock in turn.  A mutex alone would not do: the thread takes it again at once,
 * before a caller that waits for it has woken up, so that callers would wait for passes.
 */
static void take_lock(struct gathering *gathering)
{
	pthread_mutex_lock(&gathering->turn);
	pthread_mutex_lock(&gathering->lock);
	pthread_mutex_unlock(&gathering->turn);
}

static void give_lock(struct gathering *gathering)
{
	pthread_mutex_unlock(&gathering->lock);
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

static void tell_if_gone(const struct gathering *gathering, const struct record *record)
{
	if (record->is_gone)
		gathering->handlers->on_gone(gathering->owner, record->id);
}

/* All records of a program have the same kind of object. */
static bool are_of_cgroups(const struct records_of_program *records)
{
	const struct record *first = TAILQ_FIRST(records);

	return first && subject__find(first->question.source)->object == GATHER_OBJECT_CGROUP;
}

/* The first record of the next list of the pass, or NULL. */
static struct record *next_list(struct gatherer *gatherer)
{
	const struct records_of_program *records = &gatherer->records[gatherer->program++];

	return gatherer->is_of_cgroups && !are_of_cgroups(records) ? NULL : TAILQ_FIRST(records);
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
			gatherer->next = next_list(gatherer);
			continue;
		}
		if (!gatherer->next->is_gone)
			records[count++] = gatherer->next;
		gatherer->next = TAILQ_NEXT(gatherer->next, link);
	}
	return count;
}

/* Between two batches, lets another thread that waits for the lock take it. */
static void yield_lock(struct gathering *gathering)
{
	give_lock(gathering);
	take_lock(gathering);
}

static void gather_by_programs(struct gathering *gathering, struct gatherer *gatherer,
			       bool is_of_cgroups)
{
	struct record *batch[GATHER_QUESTIONS];
	uint32_t count, i;

	gatherer->next = NULL;
	gatherer->program = 0;
	gatherer->is_of_cgroups = is_of_cgroups;
	while ((count = take_batch(gatherer, batch))) {
		asker__ask(&gathering->asker, batch, count, &gatherer->cost);
		for (i = 0; i < count; i++)
			tell_if_gone(gathering, batch[i]);
		yield_lock(gathering);
	}
}

static void gather_without_programs(struct gathering *gathering, struct gatherer *gatherer)
{
	struct record *record;

	gatherer->next = TAILQ_FIRST(&gatherer->records[subject__program_count()]);
	while ((record = gatherer->next)) {
		gatherer->next = TAILQ_NEXT(record, link);
		if (!record->is_gone) {
			asker__sample(&gathering->asker, record, &gatherer->cost);
			tell_if_gone(gathering, record);
		}
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

	take_lock(gathering);
	ret = namespace_list__read(&gathering->asker.namespaces, &gathering->asker.programs,
				   is_watched, inodes, count);
	give_lock(gathering);
	return ret;
}

static void add_cost(struct gatherer *gatherer, uint64_t start)
{
	const uint64_t time = monotonic() - start;

	gatherer->cost.passes++;
	gatherer->cost.time_ns += time;
	if (gatherer->cost.longest_ns < time)
		gatherer->cost.longest_ns = time;
}

static void pass(struct gathering *gathering, struct gatherer *gatherer)
{
	const uint64_t start = monotonic();

	gather_by_programs(gathering, gatherer, false);
	gather_without_programs(gathering, gatherer);
	if (namespace_list__has_changed(&gathering->asker.namespaces, &gathering->asker.programs))
		gathering->handlers->on_namespaces(gathering->owner);
	add_cost(gatherer, start);
	next_due(gatherer);
}

/* Does not replace the pass that is due next. */
static void early_pass(struct gathering *gathering, struct gatherer *gatherer)
{
	const uint64_t start = monotonic();

	gatherer->is_early = false;
	gather_by_programs(gathering, gatherer, true);
	add_cost(gatherer, start);
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

static struct gatherer *find_early(const struct gathering *gathering)
{
	struct gatherer *gatherer;

	TAILQ_FOREACH(gatherer, &gathering->gatherers, link)
		if (gatherer->is_early)
			return gatherer;
	return NULL;
}

static void set_timer(const struct gathering *gathering)
{
	uint64_t due = first_due(gathering, false);

	if (gathering->early < due && find_early(gathering))
		due = gathering->early;
	set_timer_to(gathering, due);
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

/* Keeps @gatherer if the pass removes its last record. */
static void make_pass(struct gathering *gathering, struct gatherer *gatherer,
		      void (*pass)(struct gathering *gathering, struct gatherer *gatherer))
{
	gatherer->record_count++;
	pass(gathering, gatherer);
	gatherer->record_count--;
	gatherer__free_if_empty(gathering, gatherer);
}

static void gather_early(struct gathering *gathering)
{
	const uint64_t start = monotonic();
	struct gatherer *gatherer;
	uint64_t end, pause;

	if (start < gathering->early || !find_early(gathering))
		return;
	while ((gatherer = find_early(gathering)))
		make_pass(gathering, gatherer, early_pass);
	end = monotonic();
	pause = EARLY_PAUSE_TIMES * (end - start);
	gathering->early = end + (pause > EARLY_PAUSE_NS ? pause : EARLY_PAUSE_NS);
}

static void gather_due(struct gathering *gathering)
{
	const uint64_t now = monotonic();
	struct gatherer *gatherer;

	take_lock(gathering);
	if (oom_watch__take(&gathering->oom_watch))
		TAILQ_FOREACH(gatherer, &gathering->gatherers, link)
			gatherer->is_early = true;
	gather_early(gathering);
	while ((gatherer = find_due(gathering, now)))
		make_pass(gathering, gatherer, pass);
	set_timer(gathering);
	give_lock(gathering);
}

enum { WAIT_TIMER, WAIT_END, WAIT_KILL, WAITS };

/*
 * Waits for the timer, for the end, for a kill, or until a deferrable pass is due.  The kernel lets a wait with
 * slack end by a timer that fires anyway, and programs no timer for it before the slack is over, so
 * an idle CPU remains idle.
 */
static void wait_for_pass(struct pollfd wait[static WAITS], uint64_t due)
{
	const uint64_t now = monotonic();
	const uint64_t left = due > now ? due - now : 0;
	const struct timespec timeout = {
		.tv_sec = left / 1000000000,
		.tv_nsec = left % 1000000000,
	};

	if (due == UINT64_MAX) {
		ppoll(wait, WAITS, NULL, NULL);
		return;
	}
	prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
	ppoll(wait, WAITS, &timeout, NULL);
	prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0); /* as before */
}

static void *gather(void *argument)
{
	struct gathering *gathering = argument;
	struct pollfd wait[WAITS] = {
		[WAIT_TIMER] = { .fd = gathering->timer, .events = POLLIN },
		[WAIT_END] = { .fd = gathering->end, .events = POLLIN },
		[WAIT_KILL] = { .events = POLLIN },
	};
	uint64_t expirations, due;

	for (;;) {
		take_lock(gathering);
		due = first_due(gathering, true);
		wait[WAIT_KILL].fd = gathering->oom_watch.fd;
		give_lock(gathering);
		wait_for_pass(wait, due);
		if (wait[WAIT_END].revents)
			return NULL;
		if (read(gathering->timer, &expirations, sizeof(expirations)) > 0 ||
		    wait[WAIT_KILL].revents || due <= monotonic())
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
		.turn = PTHREAD_MUTEX_INITIALIZER,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.handlers = handlers,
		.owner = owner,
		.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
		.end = eventfd(0, EFD_CLOEXEC),
		.oom_watch = { .fd = -1 },
	};
	TAILQ_INIT(&gathering->gatherers);
	if (gathering->timer < 0 || gathering->end < 0) {
		ret = dart_error__system(error, errno, "cannot create the timer of the gatherer");
		goto close_files;
	}
	ret = asker__open(&gathering->asker, cpus, error);
	if (ret)
		goto close_files;
	ret = start_thread(gathering);
	if (!ret)
		return 0;
	dart_error__system(error, -ret, "cannot start the thread that gathers");
	asker__close(&gathering->asker);

close_files:
	if (gathering->end >= 0)
		close(gathering->end);
	if (gathering->timer >= 0)
		close(gathering->timer);
	return ret;
}

void gathering__close(struct gathering *gathering)
{
	eventfd_write(gathering->end, 1);
	pthread_join(gathering->thread, NULL);
	oom_watch__close(&gathering->oom_watch);
	asker__close(&gathering->asker);
	close(gathering->end);
	close(gathering->timer);
	pthread_mutex_destroy(&gathering->lock);
	pthread_mutex_destroy(&gathering->turn);
}

/* Without the lock while the kernel verifies the program. */
void gathering__watch_kills(struct gathering *gathering)
{
	struct oom_watch watch;
	struct dart_error error;

	if (gathering->has_tried_watch)
		return;
	gathering->has_tried_watch = true;
	if (oom_watch__open(&watch, &error)) {
		log__warning("a cgroup that ends after a kill for memory can lack the kill: %s",
			     error.text);
		return;
	}
	take_lock(gathering);
	gathering->oom_watch = watch;
	/* The thread waits without the watch: make it wait anew. */
	set_timer_to(gathering, monotonic());
	give_lock(gathering);
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

	take_lock(gathering);
	ret = gather_programs__statistics(&gathering->asker.programs, netns, ifindex, statistics);
	give_lock(gathering);
	return ret;
}

static void gather_first(struct gathering *gathering, struct gatherer *gatherer,
			 struct record *record)
{
	if (program_of(record) < subject__program_count())
		asker__ask(&gathering->asker, &record, 1, &gatherer->cost);
	else
		asker__sample(&gathering->asker, record, &gatherer->cost);
}

int gathering__add(struct gathering *gathering, struct record *record, uint32_t interval_ms,
		   bool is_deferrable)
{
	struct gatherer *gatherer;
	bool is_gone;

	take_lock(gathering);
	gatherer = gatherer__find(gathering, interval_ms, is_deferrable);
	if (!gatherer) {
		gatherer = gatherer__new(interval_ms, is_deferrable);
		if (!gatherer) {
			record__displace(record);
			give_lock(gathering);
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
	give_lock(gathering);
	if (is_gone)
		gathering__remove(gathering, record);
	return is_gone ? -ENODEV : 0;
}

void gathering__remove(struct gathering *gathering, struct record *record)
{
	struct gatherer *gatherer = record->gatherer;

	take_lock(gathering);
	if (gatherer->next == record)
		gatherer->next = TAILQ_NEXT(record, link);
	TAILQ_REMOVE(list_of(gatherer, record), record, link);
	gatherer->record_count--;
	gatherer__free_if_empty(gathering, gatherer);
	record__displace(record);
	give_lock(gathering);
}
