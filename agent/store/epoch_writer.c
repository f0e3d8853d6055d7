// SPDX-License-Identifier: GPL-2.0-only
/* Runs the thread of a store that writes files of epochs. */
#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <libdart/store/store_hash.h>

#include "epoch_writer.h"

#define SECOND INT64_C(1000000000)
/* A writer that is to stop does so within this time. */
#define NAP_NS (SECOND / 20)

/* ns that @bytes take at the rate. */
static int64_t time_of(uint64_t bytes)
{
	return bytes / EPOCH_WRITER_RATE * SECOND +
	       bytes % EPOCH_WRITER_RATE * SECOND / EPOCH_WRITER_RATE;
}

/* Sleeps as long as the writer is ahead of its rate. */
static int keep_pace(void *argument, size_t bytes)
{
	struct epoch_writer *writer = argument;
	struct timespec nap = {};
	int64_t ahead;

	writer->bytes += bytes;
	while (!atomic_load(&writer->has_to_stop)) {
		ahead = time_of(writer->bytes) -
			(dart_clock__ns(CLOCK_MONOTONIC) - writer->start_ns);
		if (ahead <= 0)
			return 0;
		nap.tv_nsec = ahead < NAP_NS ? ahead : NAP_NS;
		nanosleep(&nap, NULL);
	}
	return -ECANCELED;
}

/* Files that are too old go before a file is written, too: a full disk would keep them for ever. */
static int write_epoch(struct epoch_writer *writer)
{
	const struct epoch_memory *memory = writer->memory;
	int ret;

	writer->retained = epoch_folder__retain(writer->folder, dart_clock__ns(CLOCK_REALTIME),
						&writer->retain_error);
	ret = epoch_folder__write(writer->folder, &writer->epoch,
				  epoch_memory__slots(memory, epoch_memory__other(memory)),
				  keep_pace, writer, &writer->error);
	if (!ret)
		writer->retained = epoch_folder__retain(
			writer->folder, dart_clock__ns(CLOCK_REALTIME), &writer->retain_error);
	return ret;
}

static void *run(void *argument)
{
	struct epoch_writer *writer = argument;
	const struct epoch_memory *memory = writer->memory;
	const uint64_t one = 1;

	writer->ret = writer->epoch.since_ns ? write_epoch(writer) : 0;
	writer->has_swept = !writer->ret && epoch_memory__is_clear(memory);
	if (writer->has_swept)
		writer->swept_slots = epoch_memory__sweep(
			writer->memory, dart_store_geometry__slot_length(&writer->epoch.geometry));
	else if (!writer->ret)
		epoch_memory__clear(writer->memory);
	/* An eventfd takes it as long as the sum is small. */
	if (write(writer->fd, &one, sizeof(one)) != sizeof(one))
		return argument;
	return NULL;
}

static void join(struct epoch_writer *writer)
{
	pthread_join(writer->thread, NULL);
	writer->is_running = false;
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct epoch_writer *writer = userdata;
	uint64_t count;

	if (read(fd, &count, sizeof(count)) != sizeof(count) || !writer->is_running)
		return 0;
	join(writer);
	writer->ended(writer->subject, writer->ret, &writer->error);
	return 0;
}

int epoch_writer__open(struct epoch_writer *writer, sd_event *loop, struct dart_error *error)
{
	int ret;

	writer->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (writer->fd < 0)
		return dart_error__system(error, errno, "cannot create an event");
	ret = sd_event_add_io(loop, &writer->event, writer->fd, EPOLLIN, on_end, writer);
	if (ret < 0) {
		close(writer->fd);
		return dart_error__system(error, -ret, "cannot wait for an event");
	}
	return 0;
}

void epoch_writer__close(struct epoch_writer *writer)
{
	atomic_store(&writer->has_to_stop, true);
	if (writer->is_running)
		join(writer);
	sd_event_source_disable_unref(writer->event);
	close(writer->fd);
}

int epoch_writer__start(struct epoch_writer *writer, bool is_lost, struct dart_error *error)
{
	const struct epoch_memory *memory = writer->memory;
	const struct dart_epoch_bank *bank = &memory->state->banks[epoch_memory__other(memory)];
	sigset_t all, before;
	int code;

	writer->epoch.since_ns = is_lost ? 0 : bank->since_ns;
	writer->epoch.until_ns = bank->until_ns;
	writer->epoch.reporter_count = bank->reporters;
	writer->epoch.reporters = bank->addresses;
	writer->start_ns = dart_clock__ns(CLOCK_MONOTONIC);
	writer->bytes = 0;
	/* The event loop takes all signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	code = pthread_create(&writer->thread, NULL, run, writer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code)
		return dart_error__system(error, code, "cannot start a thread");
	writer->is_running = true;
	return 0;
}
