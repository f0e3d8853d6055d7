// SPDX-License-Identifier: GPL-2.0-only
/* Runs the thread of a store that writes files of epochs. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "epoch_writer.h"

#define SECOND INT64_C(1000000000)

/* The work of a thread, which outlives the writer if a disk does not answer. */
struct epoch_task {
	atomic_uint users; /* the writer and the thread */
	pthread_mutex_t lock;
	pthread_cond_t left; /* @is_left, by CLOCK_MONOTONIC */
	bool is_left; /* by its writer */
	int fd; /* of events, the writer's */
	struct epoch_memory *memory; /* the writer's */
	bool has_epoch; /* to write */
	struct epoch_folder folder;
	struct dart_epoch epoch;
	__be32 reporters[DART_EPOCH_REPORTERS_MAX];
	const uint8_t *banks, *slots;
	size_t banks_length; /* to unmap; 0: the banks are the writer's */
	struct epoch_clock clock;
	/* Results: */
	bool has_ended, has_swept;
	uint64_t swept_slots;
	int ret, retained;
	struct dart_error error, retain_error;
};

static size_t length_of_banks(const struct epoch_memory *memory)
{
	return DART_EPOCH_BANKS * DART_EPOCH_STRIDE(memory->length);
}

static void task__put(struct epoch_task *task)
{
	if (atomic_fetch_sub(&task->users, 1) > 1)
		return;
	if (task->banks_length)
		munmap((void *)task->banks, task->banks_length);
	pthread_cond_destroy(&task->left);
	pthread_mutex_destroy(&task->lock);
	free(task);
}

/* ---- the pace of all threads */

/* CLOCK_MONOTONIC: when the bytes that threads have written are through at the rate. */
static _Atomic int64_t through_ns;

/* ns that @bytes take at the rate. */
static int64_t time_of(uint64_t bytes)
{
	return bytes / EPOCH_WRITER_RATE * SECOND +
	       bytes % EPOCH_WRITER_RATE * SECOND / EPOCH_WRITER_RATE;
}

/* Returns when the bytes of others are through, after which @bytes follow. */
static int64_t queue_up(uint64_t bytes)
{
	const int64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	int64_t before = atomic_load(&through_ns), begin;

	do
		begin = before > now ? before : now;
	while (!atomic_compare_exchange_weak(&through_ns, &before, begin + time_of(bytes)));
	return begin;
}

/* Sleeps until the next bytes are due, unless the writer leaves the task. */
static int keep_pace(void *argument, size_t bytes)
{
	const int64_t until_ns = queue_up(bytes);
	const struct timespec until = { until_ns / SECOND, until_ns % SECOND };
	struct epoch_task *task = argument;
	bool is_left;

	pthread_mutex_lock(&task->lock);
	while (!task->is_left &&
	       pthread_cond_timedwait(&task->left, &task->lock, &until) != ETIMEDOUT)
		;
	is_left = task->is_left;
	pthread_mutex_unlock(&task->lock);
	return is_left ? -ECANCELED : 0;
}

/* Places of threads that write files. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a place, or a task that was left */
	uint32_t taken;
} places = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };

static bool task__is_left(struct epoch_task *task)
{
	bool is_left;

	pthread_mutex_lock(&task->lock);
	is_left = task->is_left;
	pthread_mutex_unlock(&task->lock);
	return is_left;
}

static int take_place(struct epoch_task *task)
{
	int ret = -ECANCELED;

	pthread_mutex_lock(&places.lock);
	while (places.taken == EPOCH_WRITERS_MAX && !task__is_left(task))
		pthread_cond_wait(&places.changed, &places.lock);
	if (!task__is_left(task)) {
		places.taken++;
		ret = 0;
	}
	pthread_mutex_unlock(&places.lock);
	return ret;
}

static void leave_place(void)
{
	pthread_mutex_lock(&places.lock);
	places.taken--;
	pthread_cond_broadcast(&places.changed);
	pthread_mutex_unlock(&places.lock);
}

/* ---- the thread */

static void retain(struct epoch_task *task)
{
	const uint64_t now_ns = epoch_clock__now(&task->clock, task->folder.keep_ns,
						 dart_clock__ns(CLOCK_REALTIME),
						 dart_clock__ns(CLOCK_BOOTTIME));

	task->retained = epoch_folder__retain(&task->folder, now_ns, &task->retain_error);
}

/* Files that are too old go before a file is written, too: a full disk would keep them for ever. */
static int write_epoch(struct epoch_task *task)
{
	int ret = take_place(task);

	if (ret)
		return dart_error__system(&task->error, -ret, "gave up");
	retain(task);
	ret = epoch_folder__write(&task->folder, &task->epoch, task->slots, keep_pace, task,
				  &task->error);
	if (!ret)
		retain(task);
	leave_place();
	return ret;
}

/* The task has not been left: the memory is there as long as its lock is held. */
static void end(struct epoch_task *task)
{
	const uint64_t one = 1;

	task->has_swept = !task->ret && epoch_memory__is_clear(task->memory);
	if (task->has_swept)
		task->swept_slots = epoch_memory__sweep(
			task->memory, dart_store_geometry__slot_length(&task->epoch.geometry));
	else if (!task->ret)
		epoch_memory__clear(task->memory);
	/* An eventfd takes it as long as the sum is small. */
	task->has_ended = write(task->fd, &one, sizeof(one)) == sizeof(one);
}

static void *run(void *argument)
{
	struct epoch_task *task = argument;

	task->ret = task->has_epoch ? write_epoch(task) : 0;
	pthread_mutex_lock(&task->lock);
	if (!task->is_left)
		end(task);
	pthread_mutex_unlock(&task->lock);
	task__put(task);
	return NULL;
}

/* ---- the event loop */

static void take_results(struct epoch_writer *writer, const struct epoch_task *task)
{
	writer->has_swept = task->has_swept;
	writer->swept_slots = task->swept_slots;
	writer->retained = task->retained;
	writer->retain_error = task->retain_error;
	writer->clock = task->clock;
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct epoch_writer *writer = userdata;
	struct epoch_task *task = writer->task;
	struct dart_error error;
	bool has_ended;
	uint64_t count;
	int ret;

	if (read(fd, &count, sizeof(count)) != sizeof(count) || !task)
		return 0;
	/* The thread wrote the event with the lock. */
	pthread_mutex_lock(&task->lock);
	has_ended = task->has_ended;
	pthread_mutex_unlock(&task->lock);
	if (!has_ended)
		return 0;
	take_results(writer, task);
	ret = task->ret;
	error = task->error;
	writer->task = NULL;
	writer->is_running = false;
	task__put(task);
	writer->ended(writer->subject, ret, &error);
	return 0;
}

int epoch_writer__open(struct epoch_writer *writer, sd_event *loop, struct dart_error *error)
{
	void *banks = mmap(NULL, length_of_banks(writer->memory), PROT_READ, MAP_SHARED,
			   writer->memory_fd, 0);
	int ret;

	if (banks == MAP_FAILED)
		return dart_error__system(error, errno, "cannot map the memory");
	writer->banks = banks;
	writer->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = writer->fd < 0 ?
		      -errno :
		      sd_event_add_io(loop, &writer->event, writer->fd, EPOLLIN, on_end, writer);
	if (ret < 0) {
		if (writer->fd >= 0)
			close(writer->fd);
		munmap(banks, length_of_banks(writer->memory));
		return dart_error__system(error, -ret, "cannot wait for an event");
	}
	epoch_clock__now(&writer->clock, 0, dart_clock__ns(CLOCK_REALTIME),
			 dart_clock__ns(CLOCK_BOOTTIME));
	return 0;
}

/* Returns true if the thread goes on with the banks. */
static bool leave(struct epoch_writer *writer)
{
	struct epoch_task *task = writer->task;
	bool goes_on;

	if (!task)
		return false;
	pthread_mutex_lock(&task->lock);
	goes_on = !task->has_ended;
	task->is_left = true;
	if (goes_on)
		task->banks_length = length_of_banks(writer->memory);
	pthread_cond_signal(&task->left);
	pthread_mutex_unlock(&task->lock);
	pthread_mutex_lock(&places.lock);
	pthread_cond_broadcast(&places.changed);
	pthread_mutex_unlock(&places.lock);
	writer->task = NULL;
	writer->is_running = false;
	task__put(task);
	return goes_on;
}

void epoch_writer__close(struct epoch_writer *writer)
{
	if (!leave(writer))
		munmap((void *)writer->banks, length_of_banks(writer->memory));
	sd_event_source_disable_unref(writer->event);
	close(writer->fd);
}

static void describe_epoch(const struct epoch_writer *writer, struct epoch_task *task)
{
	task->folder = *writer->folder;
	task->epoch = writer->epoch;
	task->epoch.reporters = memcpy(task->reporters, writer->epoch.reporters,
				       writer->epoch.reporter_count * sizeof(*task->reporters));
	task->has_epoch = writer->epoch.since_ns;
	task->banks = writer->banks;
	task->slots = writer->banks + epoch_memory__other(writer->memory) *
					      DART_EPOCH_STRIDE(writer->memory->length);
	task->clock = writer->clock;
}

static struct epoch_task *task__new(const struct epoch_writer *writer)
{
	struct epoch_task *task = calloc(1, sizeof(*task));
	pthread_condattr_t attributes;

	if (!task)
		return NULL;
	atomic_init(&task->users, 2);
	pthread_mutex_init(&task->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&task->left, &attributes);
	pthread_condattr_destroy(&attributes);
	task->fd = writer->fd;
	task->memory = writer->memory;
	describe_epoch(writer, task);
	return task;
}

int epoch_writer__start(struct epoch_writer *writer, bool is_lost, struct dart_error *error)
{
	const struct epoch_memory *memory = writer->memory;
	const struct dart_epoch_bank *bank = &memory->state->banks[epoch_memory__other(memory)];
	struct epoch_task *task;
	sigset_t all, before;
	pthread_t thread;
	int code;

	writer->epoch.since_ns = is_lost ? 0 : bank->since_ns;
	writer->epoch.until_ns = bank->until_ns;
	writer->epoch.reporter_count = bank->reporters;
	writer->epoch.reporters = bank->addresses;
	task = task__new(writer);
	if (!task)
		return dart_error__no_memory(error);
	/* The event loop takes all signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	code = pthread_create(&thread, NULL, run, task);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code) {
		atomic_store(&task->users, 1);
		task__put(task);
		return dart_error__system(error, code, "cannot start a thread");
	}
	pthread_detach(thread);
	writer->task = task;
	writer->is_running = true;
	return 0;
}
