// SPDX-License-Identifier: GPL-2.0-only
/* A thread that copies values of a program into rows: see writer.h. */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/base/lone_thread.h"
#include "agent/gather/record.h"
#include "reader.h"

#define STACK_BYTES (256 << 10) /* a row of a record lies on the stack */

struct writers {
	atomic_uint holders; /* the owner, and each writer */
	atomic_uint threads;
	int ended; /* an eventfd */
};

struct written_entry {
	struct dart_application_entry flat;
	struct application_reader *reader;
	struct record *record;
	struct record_pages pages;
	void *memory;
	size_t length; /* bytes of @memory */
	uint8_t *rows; /* as fetched */
};

struct writer {
	struct writers *writers;
	struct application_process process;
	uint32_t gather_ms;
	struct written_entry entries[DART_APPLICATION_ENTRIES_MAX];
	uint32_t entry_count;
	pthread_mutex_t lock; /* guards is_stopped */
	pthread_cond_t stopped;
	bool is_stopped;
	atomic_uint holders; /* the owner, and the thread */
	atomic_bool has_ended;
	atomic_uint_least64_t unreadable, missed;
};

/* ---- what writers have in common */

struct writers *writers__open(int *fd, struct dart_error *error)
{
	struct writers *writers = calloc(1, sizeof(*writers));

	if (!writers) {
		dart_error__no_memory(error);
		return NULL;
	}
	writers->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (writers->ended < 0) {
		dart_error__system(error, errno, "cannot create an eventfd");
		free(writers);
		return NULL;
	}
	writers->holders = 1;
	*fd = writers->ended;
	return writers;
}

void writers__close(struct writers *writers)
{
	if (atomic_fetch_sub(&writers->holders, 1) > 1)
		return;
	close(writers->ended);
	free(writers);
}

/* ---- making */

static void written_entry__free(struct written_entry *entry)
{
	application_reader__free(entry->reader);
	if (entry->record)
		record__free(entry->record);
	record_pages__close(&entry->pages);
	if (entry->memory)
		munmap(entry->memory, entry->length);
	free(entry->rows);
	dart_application_entry__clear(&entry->flat);
}

static void writer__put(struct writer *writer)
{
	uint32_t i;

	if (atomic_fetch_sub(&writer->holders, 1) > 1)
		return;
	for (i = 0; i < writer->entry_count; i++)
		written_entry__free(&writer->entries[i]);
	application_process__detach(&writer->process);
	pthread_cond_destroy(&writer->stopped);
	pthread_mutex_destroy(&writer->lock);
	writers__close(writer->writers);
	free(writer);
}

static int make_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;
	int ret = pthread_condattr_init(&attributes);

	if (ret)
		return -ret;
	ret = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) ?:
		      pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
	return -ret;
}

int writer__new(struct writers *writers, const struct application_process *process,
		uint32_t gather_ms, struct writer **result, struct dart_error *error)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	int ret;

	if (!writer)
		return dart_error__no_memory(error);
	writer->process = *process;
	writer->process.memory = fcntl(process->memory, F_DUPFD_CLOEXEC, 0);
	if (writer->process.memory < 0) {
		ret = dart_error__system(error, errno, "cannot duplicate a descriptor");
		free(writer);
		return ret;
	}
	ret = make_condition(&writer->stopped);
	if (ret) {
		close(writer->process.memory);
		free(writer);
		return dart_error__system(error, -ret, "cannot create a condition");
	}
	pthread_mutex_init(&writer->lock, NULL);
	writer->gather_ms = gather_ms;
	writer->holders = 1;
	writer->writers = writers;
	atomic_fetch_add(&writers->holders, 1);
	*result = writer;
	return 0;
}

static int map_rows(struct written_entry *entry, const struct record_layout *layout, int fd)
{
	const struct dart_zero_record wanted = {
		.form = DART_ZERO_RECORD_SUM,
		.pieces = (uintptr_t)layout->pieces,
		.piece_count = layout->piece_count,
	};
	int ret = record__new(&wanted, entry->flat.schema->length, &entry->record);

	if (ret)
		return ret;
	entry->record->rows = entry->flat.rows;
	entry->length = (size_t)entry->record->row_lines * DART_ZERO_RECORD_LINE * entry->flat.rows;
	entry->memory = mmap(NULL, entry->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (entry->memory == MAP_FAILED) {
		entry->memory = NULL;
		return -errno;
	}
	return record_pages__open(&entry->pages, entry->memory, entry->length) ?:
		       record__place(entry->record, &entry->pages);
}

int writer__add(struct writer *writer, struct dart_application_entry *flat,
		const struct record_layout *layout, int fd, struct dart_error *error)
{
	struct written_entry *entry = &writer->entries[writer->entry_count++];
	int ret;

	entry->flat = *flat;
	*flat = (struct dart_application_entry){};
	ret = application_reader__new(&entry->reader, &entry->flat, error);
	if (ret)
		return ret;
	entry->rows = calloc(entry->flat.rows, entry->flat.schema->length);
	if (!entry->rows)
		return dart_error__no_memory(error);
	ret = map_rows(entry, layout, fd);
	return ret ? dart_error__system(error, -ret, "cannot write the rows of '%s'",
					entry->flat.schema->name) :
		     0;
}

/* ---- the thread */

static void tell_end(struct writer *writer)
{
	atomic_store(&writer->has_ended, true);
	eventfd_write(writer->writers->ended, 1);
}

/* Returns -ESRCH once the process has ended. */
static int gather(struct writer *writer, struct written_entry *entry)
{
	const uint64_t time = dart_clock__ns(CLOCK_BOOTTIME);
	uint32_t i;
	int ret = application_reader__read(entry->reader, &writer->process, entry->rows);

	if (ret == -ESRCH)
		return ret;
	if (ret) {
		/* An empty row means that the value is missing, as in the rows of the module. */
		atomic_fetch_add(&writer->unreadable, 1);
		record__finish(entry->record, 0);
		return 0;
	}
	for (i = 0; i < entry->flat.rows; i++)
		record__write(entry->record, i, time, 0,
			      entry->rows + (size_t)i * entry->flat.schema->length, 1, 0);
	record__finish(entry->record, entry->flat.rows);
	return 0;
}

static int pass(struct writer *writer)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < writer->entry_count; i++)
		ret = gather(writer, &writer->entries[i]);
	return ret;
}

/* Waits until @due, ns of CLOCK_MONOTONIC.  False: the writer was stopped. */
static bool wait_until(struct writer *writer, uint64_t due)
{
	const struct timespec time = {
		.tv_sec = due / 1000000000,
		.tv_nsec = due % 1000000000,
	};
	bool is_stopped;
	int ret = 0;

	pthread_mutex_lock(&writer->lock);
	while (!writer->is_stopped && ret != ETIMEDOUT)
		ret = pthread_cond_timedwait(&writer->stopped, &writer->lock, &time);
	is_stopped = writer->is_stopped;
	pthread_mutex_unlock(&writer->lock);
	return !is_stopped;
}

static void *run(void *argument)
{
	struct writer *writer = argument;
	const uint64_t interval = writer->gather_ms * UINT64_C(1000000);
	uint64_t due = dart_clock__ns(CLOCK_MONOTONIC), now, missed;

	while (wait_until(writer, due)) {
		if (pass(writer)) {
			tell_end(writer);
			break;
		}
		due += interval;
		now = dart_clock__ns(CLOCK_MONOTONIC);
		if (due > now)
			continue;
		missed = (now - due) / interval + 1;
		atomic_fetch_add(&writer->missed, missed);
		due += missed * interval;
	}
	atomic_fetch_sub(&writer->writers->threads, 1);
	writer__put(writer);
	return NULL;
}

int writer__start(struct writer *writer, struct dart_error *error)
{
	struct writers *writers = writer->writers;
	int ret = -EAGAIN;

	if (atomic_fetch_add(&writers->threads, 1) < WRITER_THREADS_MAX) {
		atomic_fetch_add(&writer->holders, 1);
		ret = lone_thread__start(run, writer, STACK_BYTES);
		if (!ret)
			return 0;
		atomic_fetch_sub(&writer->holders, 1);
	}
	atomic_fetch_sub(&writers->threads, 1);
	return dart_error__set(
		error, -ret,
		"no thread can be started for process %d (%d at most: follow fewer programs, or load the module dart_zero)",
		writer->process.pid, WRITER_THREADS_MAX);
}

void writer__stop(struct writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	writer->is_stopped = true;
	pthread_cond_signal(&writer->stopped);
	pthread_mutex_unlock(&writer->lock);
	writer__put(writer);
}

bool writer__has_ended(const struct writer *writer)
{
	return atomic_load(&writer->has_ended);
}

uint64_t writer__unreadable(const struct writer *writer)
{
	return atomic_load(&writer->unreadable);
}

uint64_t writer__missed(const struct writer *writer)
{
	return atomic_load(&writer->missed);
}
