// SPDX-License-Identifier: GPL-2.0-only
/* Reads the memory of processes in threads: see examination.h. */
#include "examination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/base/lone_thread.h"
#include "agent/base/loop_timer.h"
#include "host_process.h"

#define STACK_BYTES (256 << 10)
#define RUNNING_MAX 8 /* threads that are not held */
#define LOOKUPS_MAX 256 /* of users, in a turn of the loop */
/* Threads of the processes of one user, and held threads; only the last limit is root's. */
#define USER_MAX 4
#define HELD_USERS_MAX 192
#define HELD_MAX 256

/* What the threads have in common with their dartd. */
struct examiners {
	atomic_uint holders;
	int done; /* an eventfd: an examination is done */
};

static void examiners__put(struct examiners *examiners)
{
	if (atomic_fetch_sub(&examiners->holders, 1) > 1)
		return;
	close(examiners->done);
	free(examiners);
}

static void examination__put(struct examination *examination)
{
	unsigned int i;

	if (atomic_fetch_sub(&examination->holders, 1) > 1)
		return;
	for (i = 0; i < APPLICATION_FORMATS; i++)
		finding__clear(&examination->findings[i]);
	if (examination->former.memory >= 0)
		application_process__detach(&examination->former);
	if (examination->pidfd >= 0)
		close(examination->pidfd);
	examiners__put(examination->examiners);
	free(examination);
}

/* ---- in the thread */

static void *run(void *argument)
{
	struct examination *examination = argument;

	if (examination->step == EXAMINATION_READS)
		examination__read(examination);
	else
		examination__attach(examination);
	atomic_store(&examination->is_done, true);
	eventfd_write(examination->examiners->done, 1);
	examination__put(examination);
	return NULL;
}

/* ---- in the event loop */

static unsigned int bucket_of(pid_t pid)
{
	return (unsigned int)pid % EXAMINATION_BUCKETS;
}

static uint64_t now_us(void)
{
	return dart_clock__ns(CLOCK_MONOTONIC) / 1000;
}

static int examination__start_thread(struct examination *examination)
{
	int ret;

	atomic_store(&examination->is_done, false);
	atomic_fetch_add(&examination->holders, 1);
	ret = lone_thread__start(run, examination, STACK_BYTES);
	if (ret)
		atomic_fetch_sub(&examination->holders, 1);
	else
		examination->deadline = now_us() + EXAMINATION_TIMEOUT_MS * 1000;
	return ret;
}

static void examination__unlink(struct examination *examination)
{
	struct examinations *examinations = examination->examinations;

	if (examination->step == EXAMINATION_WAITS)
		examination_queues__remove(&examinations->waiting, examination);
	else if (examination->step == EXAMINATION_IS_ATTACHED)
		TAILQ_REMOVE(&examinations->attached, examination, link);
	else
		TAILQ_REMOVE(&examinations->started, examination, link);
	LIST_REMOVE(examination, in_bucket);
}

/* Unlinks it, and tells its owner. */
static void examination__finish(struct examination *examination)
{
	examination__unlink(examination);
	examination->handlers->finish(examination);
	examination__put(examination);
}

static void examination__fail(struct examination *examination, int ret,
			      const struct dart_error *why)
{
	enum application_format format;

	examination->build_ret = ret;
	examination->build_why = *why;
	for (format = 0; format < APPLICATION_FORMATS; format++) {
		if (!(examination->formats & 1u << format))
			continue;
		examination->findings[format].ret = ret;
		examination->findings[format].why = *why;
	}
	examination__finish(examination);
}

/* Threads of a user, or only the ones that are held. */
static unsigned int count_of_user(const struct examinations *examinations, uid_t user,
				  bool only_held)
{
	const struct examination *examination;
	unsigned int count = 0;

	TAILQ_FOREACH(examination, &examinations->started, link)
		count += examination->user == user && (examination->is_held || !only_held);
	return count;
}

/* True if the user gets no further thread until a held one ends. */
static bool holds_too_many(const struct examinations *examinations, uid_t user)
{
	if (!user)
		return examinations->held >= HELD_MAX;
	return examinations->held >= HELD_USERS_MAX ||
	       count_of_user(examinations, user, true) >= USER_MAX;
}

const struct dart_error *examination__shortage(const struct examination *examination)
{
	const struct finding *finding = &examination->findings[APPLICATION_FORMAT_ANY];

	if (examination__is_shortage(examination->build_ret))
		return &examination->build_why;
	return examination__is_shortage(finding->ret) ? &finding->why : NULL;
}

static void examination__fail_to_begin(struct examination *examination, int ret)
{
	struct dart_error why;

	if (ret == -ESRCH)
		dart_error__set(&why, ESRCH, "process %d has ended", examination->pid);
	else if (ret == -EUSERS)
		dart_error__set(
			&why, EUSERS,
			"process %d is not examined: other processes of user %u do not answer when their memory is read",
			examination->pid, examination->user);
	else
		dart_error__system(&why, -ret, "cannot examine process %d", examination->pid);
	examination__fail(examination, ret, &why);
}

/* Returns 0, or -errno: -ESRCH if the process has ended. */
static int examination__find_user(struct examination *examination)
{
	errno = 0;
	if (host_process__user(examination->pid, &examination->user))
		return 0;
	return examination__is_shortage(-errno) ? -errno : -ESRCH;
}

/* As examination__find_user(). */
static int examination__find_process(struct examination *examination)
{
	int pidfd = examination->pidfd;

	if (pidfd < 0)
		pidfd = host_process__open(examination->pid);
	if (pidfd < 0)
		return examination__is_shortage(pidfd) ? pidfd : -ESRCH;
	examination->pidfd = pidfd;
	return 0;
}

/* Returns 0, or -errno if it cannot begin. */
static int examination__begin(struct examination *examination)
{
	struct examinations *examinations = examination->examinations;
	int ret;

	if (holds_too_many(examinations, examination->user))
		return -EUSERS;
	ret = examination__find_process(examination);
	if (ret)
		return ret;
	examination_queues__remove(&examinations->waiting, examination);
	examination->step = EXAMINATION_READS;
	TAILQ_INSERT_TAIL(&examinations->started, examination, link);
	ret = examination__start_thread(examination);
	if (ret)
		return ret == -EAGAIN ? -ENOMEM : ret;
	examinations->running++;
	return 0;
}

/* Has the user a thread left?  A user who holds too many is told so at once. */
static bool may_begin(void *userdata, uid_t user)
{
	const struct examinations *examinations = userdata;

	return !user || holds_too_many(examinations, user) ||
	       count_of_user(examinations, user, false) < USER_MAX;
}

/*
 * Looks up users of processes until one of them has a thread left.  True: not all were looked up, and
 * the loop has other work.
 */
static bool examinations__find_users(struct examinations *examinations)
{
	struct examination *examination;
	int ret, i;

	for (i = 0; i < LOOKUPS_MAX; i++) {
		examination = TAILQ_FIRST(&examinations->waiting.unknown);
		if (!examination)
			return false;
		ret = examination__find_user(examination) ?:
			      examination_queues__sort(&examinations->waiting, examination);
		if (ret)
			examination__fail_to_begin(examination, ret);
		else if (may_begin(examinations, examination->user))
			return false;
	}
	return true;
}

/* Begins examinations while there are threads for them. */
static void examinations__begin(struct examinations *examinations)
{
	struct examination *examination;
	bool has_more = false;
	int ret;

	while (examinations->running < RUNNING_MAX && !has_more) {
		examination =
			examination_queues__next(&examinations->waiting, may_begin, examinations);
		if (examination) {
			ret = examination__begin(examination);
			if (ret)
				examination__fail_to_begin(examination, ret);
		} else if (TAILQ_EMPTY(&examinations->waiting.unknown)) {
			return;
		} else {
			has_more = examinations__find_users(examinations);
		}
	}
	if (has_more)
		eventfd_write(examinations->examiners->done, 1);
}

/* Starts the timer for the thread whose time ends first. */
static void examinations__arm(struct examinations *examinations)
{
	const uint64_t now = now_us();
	const struct examination *examination;
	uint64_t due = UINT64_MAX;

	TAILQ_FOREACH(examination, &examinations->started, link)
		if (!examination->is_held && examination->deadline < due)
			due = examination->deadline;
	if (due == UINT64_MAX)
		sd_event_source_set_enabled(examinations->timer, SD_EVENT_OFF);
	else
		loop_timer__start(examinations->timer, due > now ? due - now : 0);
}

/* True: the process was a copy of its parent, and the parent has ended since.  Reads again. */
static bool examination__is_outdated(struct examination *examination)
{
	enum application_format format;

	if (!examination->is_copy_of_parent ||
	    host_process__parent(examination->pid) == examination->parent)
		return false;
	/* The next thread repeats this step only. */
	for (format = 0; format < APPLICATION_FORMATS; format++)
		if (examination->step == EXAMINATION_READS || format == APPLICATION_FORMAT_ANY)
			finding__clear(&examination->findings[format]);
	return true;
}

/* The thread of its step has ended.  True: another one reads it again, or attaches the process. */
static bool examination__goes_on(struct examination *examination)
{
	if (examination__is_outdated(examination))
		return !examination__start_thread(examination);
	if (examination->step != EXAMINATION_READS || examination->build_ret ||
	    !(examination->formats & 1u << APPLICATION_FORMAT_ANY) || !examination->owner)
		return false;
	examination->layout = examination->handlers->choose(examination);
	if (!examination->layout)
		return false;
	examination->step = EXAMINATION_ATTACHES;
	return !examination__start_thread(examination);
}

static bool has_started_before(const struct examination *one, const struct examination *other)
{
	return one->start < other->start || (one->start == other->start && one->pid < other->pid);
}

static void insert_by_start(struct examination_list *list, struct examination *examination)
{
	struct examination *other = TAILQ_LAST(list, examination_list);

	while (other && has_started_before(examination, other))
		other = TAILQ_PREV(other, examination_list, link);
	if (other)
		TAILQ_INSERT_AFTER(list, other, examination, link);
	else
		TAILQ_INSERT_HEAD(list, examination, link);
}

/* True if the examination waits for the ones of processes that started together with its own. */
static bool examination__waits(struct examination *examination)
{
	struct examinations *examinations = examination->examinations;
	enum application_format format = 0;

	if (!examination->handlers->begin)
		return false;
	while (format < APPLICATION_FORMATS && examination->findings[format].ret)
		format++;
	if (format == APPLICATION_FORMATS)
		return false;
	if (TAILQ_EMPTY(&examinations->attached))
		examinations->attached_due = now_us() + EXAMINATION_QUIET_MAX_MS * 1000;
	TAILQ_REMOVE(&examinations->started, examination, link);
	examination->step = EXAMINATION_IS_ATTACHED;
	insert_by_start(&examinations->attached, examination);
	return true;
}

static void examinations__finish_attached(struct examinations *examinations)
{
	struct examination *examination = TAILQ_FIRST(&examinations->attached);
	const struct examination_handlers *handlers = examination->handlers;
	void *owner = examination->owner;

	handlers->begin(owner);
	while ((examination = TAILQ_FIRST(&examinations->attached)))
		examination__finish(examination);
	handlers->end(owner);
}

/* Programs start so often on some hosts that a timer that is set again would never fire. */
static void examinations__await_quiet(struct examinations *examinations)
{
	const bool is_busy = examinations->running || examinations->waiting.count;
	const uint64_t now = now_us(), quiet = now + EXAMINATION_QUIET_MS * 1000;
	const uint64_t due = examinations->attached_due;

	if (TAILQ_EMPTY(&examinations->attached))
		return;
	if (due <= now)
		examinations__finish_attached(examinations);
	else
		loop_timer__start(examinations->quiet,
				  (is_busy || due < quiet ? due : quiet) - now);
}

static int on_quiet(sd_event_source *source, uint64_t time, void *userdata)
{
	struct examinations *examinations = userdata;

	if (!TAILQ_EMPTY(&examinations->attached))
		examinations__finish_attached(examinations);
	return 0;
}

static void examinations__take_done(struct examinations *examinations)
{
	struct examination *examination, *next;

	for (examination = TAILQ_FIRST(&examinations->started); examination; examination = next) {
		next = TAILQ_NEXT(examination, link);
		if (!atomic_load(&examination->is_done))
			continue;
		if (examination->is_held)
			examinations->held--;
		else
			examinations->running--;
		examination->is_held = false;
		if (examination__goes_on(examination)) {
			examinations->running++;
			continue;
		}
		if (!examination__waits(examination))
			examination__finish(examination);
		/* A handler may have changed the list. */
		next = TAILQ_FIRST(&examinations->started);
	}
}

static int on_done(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct examinations *examinations = userdata;
	eventfd_t count;

	eventfd_read(fd, &count);
	examinations__take_done(examinations);
	examinations__begin(examinations);
	examinations__arm(examinations);
	examinations__await_quiet(examinations);
	return 0;
}

static int on_time(sd_event_source *source, uint64_t time, void *userdata)
{
	struct examinations *examinations = userdata;
	struct examination *examination;
	const uint64_t now = now_us();

	TAILQ_FOREACH(examination, &examinations->started, link) {
		if (examination->is_held || examination->deadline > now ||
		    atomic_load(&examination->is_done))
			continue;
		examination->is_held = true;
		examinations->running--;
		examinations->held++;
		examination->handlers->hold(examination);
	}
	examinations__begin(examinations);
	examinations__arm(examinations);
	return 0;
}

int examination__explain_hold(const struct examination *examination, struct dart_error *error)
{
	return dart_error__set(
		error, ETIMEDOUT,
		"process %d of user %u has not answered within %d s when its memory was read (it may lie on a file system that hangs)",
		examination->pid, examination->user, EXAMINATION_TIMEOUT_MS / 1000);
}

static struct examination *examination__new(struct examinations *examinations,
					    const struct examination_wish *wish)
{
	struct examination *examination = calloc(1, sizeof(*examination));
	enum application_format format;

	if (!examination)
		return NULL;
	examination->examinations = examinations;
	examination->handlers = wish->handlers;
	examination->owner = wish->owner;
	examination->pid = wish->pid;
	examination->user = -1;
	examination->pidfd = wish->pidfd;
	examination->tries = wish->tries;
	examination->formats = wish->formats;
	examination->is_executed = wish->is_executed;
	examination->lives = true;
	examination->build_ret = -ENOENT;
	for (format = 0; format < APPLICATION_FORMATS; format++)
		examination->findings[format] =
			(struct finding){ .ret = -ENOENT, .process.memory = -1 };
	examination->former.memory = -1;
	if (wish->former) {
		examination->former = *wish->former;
		examination->former.memory = fcntl(wish->former->memory, F_DUPFD_CLOEXEC, 0);
	}
	examination->examiners = examinations->examiners;
	atomic_fetch_add(&examinations->examiners->holders, 1);
	examination->holders = 1;
	return examination;
}

int examinations__add(struct examinations *examinations, const struct examination_wish *wish)
{
	struct examination *examination = examination__new(examinations, wish);

	if (!examination) {
		if (wish->pidfd >= 0)
			close(wish->pidfd);
		return -ENOMEM;
	}
	examination_queues__add(&examinations->waiting, examination);
	LIST_INSERT_HEAD(&examinations->buckets[bucket_of(wish->pid)], examination, in_bucket);
	/* From the event loop, because handlers are not called before this function returns. */
	eventfd_write(examinations->examiners->done, 1);
	return 0;
}

struct examination *examinations__find(const struct examinations *examinations, pid_t pid,
				       const void *owner)
{
	struct examination *examination;

	LIST_FOREACH(examination, &examinations->buckets[bucket_of(pid)], in_bucket)
		if (examination->pid == pid && examination->owner == owner)
			return examination;
	return NULL;
}

static void examination__drop(struct examination *examination)
{
	examination__unlink(examination);
	examination__put(examination);
}

void examinations__disown(struct examinations *examinations, const void *owner)
{
	struct examination *examination;

	TAILQ_FOREACH(examination, &examinations->started, link)
		if (examination->owner == owner)
			examination->owner = NULL;
	examination_queues__drop(&examinations->waiting, owner, examination__drop);
}

/* ---- opening */

int examinations__open(struct examinations *examinations, sd_event *loop, struct dart_error *error)
{
	struct examiners *examiners = calloc(1, sizeof(*examiners));
	int ret;

	*examinations = (struct examinations){ .loop = loop, .examiners = examiners };
	examination_queues__init(&examinations->waiting);
	TAILQ_INIT(&examinations->started);
	TAILQ_INIT(&examinations->attached);
	if (!examiners)
		return dart_error__no_memory(error);
	examiners->holders = 1;
	examiners->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (examiners->done < 0)
		return dart_error__system(error, errno, "cannot create an eventfd");
	ret = sd_event_add_io(loop, &examinations->done, examiners->done, EPOLLIN, on_done,
			      examinations);
	if (ret >= 0)
		ret = loop_timer__add(loop, &examinations->timer, CLOCK_MONOTONIC, on_time,
				      examinations);
	if (ret >= 0)
		ret = loop_timer__add(loop, &examinations->quiet, CLOCK_MONOTONIC, on_quiet,
				      examinations);
	return ret < 0 ? dart_error__system(error, -ret, "cannot create an event source") : 0;
}

void examinations__close(struct examinations *examinations)
{
	struct examination *examination;

	if (!examinations->examiners)
		return;
	while ((examination = examination_queues__any(&examinations->waiting) ?:
				      TAILQ_FIRST(&examinations->started)     ?:
				      TAILQ_FIRST(&examinations->attached)))
		examination__drop(examination);
	sd_event_source_disable_unref(examinations->done);
	sd_event_source_disable_unref(examinations->timer);
	sd_event_source_disable_unref(examinations->quiet);
	examiners__put(examinations->examiners);
	examinations->examiners = NULL;
}
