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
#include "turns.h"

#define STACK_BYTES (256 << 10) /* a row of a record lies on the stack */
/* Between two descriptions of memory: at least, and while nothing seems to have changed. */
#define DESCRIBE_MIN_NS (200 * UINT64_C(1000000))
#define DESCRIBE_NS (5 * UINT64_C(1000000000))
/* How long the memory may lack a description: the program may be about to map another file. */
#define LOST_NS (10 * UINT64_C(1000000000))

struct writers {
	atomic_uint holders; /* the owner, and each writer */
	atomic_uint threads;
	int news; /* an eventfd */
};

struct written_entry {
	struct dart_application_entry flat;
	struct application_reader *reader;
	struct turns turns;
	struct record *record;
	struct record_pages pages;
	void *memory;
	size_t length; /* bytes of @memory */
	uint8_t *rows; /* as fetched */
	uint64_t time; /* ns, CLOCK_BOOTTIME, when it was fetched */
	int ret; /* of the fetch */
};

/* Memory that describes itself. */
struct described {
	enum application_format format;
	int pidfd; /* -1: the memory does not describe itself */
	struct dart_application_layout *layout; /* whose checks hold for the entries */
	uint64_t time; /* ns, CLOCK_MONOTONIC: of the last description */
	uint64_t missing_since; /* likewise: the first one that failed; 0: the last one succeeded */
	/* The thread's last words, written before its news. */
	struct dart_application_layout *next;
	struct dart_error why;
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
	struct described described; /* the thread's */
	atomic_int news;
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
	writers->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (writers->news < 0) {
		dart_error__system(error, errno, "cannot create an eventfd");
		free(writers);
		return NULL;
	}
	writers->holders = 1;
	*fd = writers->news;
	return writers;
}

void writers__close(struct writers *writers)
{
	if (atomic_fetch_sub(&writers->holders, 1) > 1)
		return;
	close(writers->news);
	free(writers);
}

/* ---- making */

static void written_entry__free(struct written_entry *entry)
{
	application_reader__free(entry->reader);
	turns__close(&entry->turns);
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
	dart_application_layout__free(writer->described.layout);
	dart_application_layout__free(writer->described.next);
	if (writer->described.pidfd >= 0)
		close(writer->described.pidfd);
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
	writer->described.pidfd = -1;
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
	if (!entry->rows || turns__open(&entry->turns, entry->flat.rows, writer->gather_ms))
		return dart_error__no_memory(error);
	ret = map_rows(entry, layout, fd);
	return ret ? dart_error__system(error, -ret, "cannot write the rows of '%s'",
					entry->flat.schema->name) :
		     0;
}

int writer__describe(struct writer *writer, int pidfd, enum application_format format,
		     struct dart_application_layout *layout, struct dart_error *error)
{
	struct described *described = &writer->described;

	described->layout = layout;
	described->format = format;
	described->time = dart_clock__ns(CLOCK_MONOTONIC);
	described->pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
	return described->pidfd < 0 ?
		       dart_error__system(error, errno, "cannot duplicate a descriptor") :
		       0;
}

/* ---- the thread */

static void writer__tell(struct writer *writer, enum writer_news news)
{
	atomic_store(&writer->news, news);
	eventfd_write(writer->writers->news, 1);
}

/* 0 if the values have the meaning that the layout gives them, or it is the same for ever. */
static int check(const struct writer *writer)
{
	struct dart_error ignored;

	if (writer->described.missing_since)
		return -EFAULT;
	return writer->described.layout ?
		       application_process__check(&writer->process, writer->described.layout,
						  &ignored) :
		       0;
}

static void fetch(const struct writer *writer, struct written_entry *entry)
{
	entry->time = dart_clock__ns(CLOCK_BOOTTIME);
	turns__choose(&entry->turns);
	entry->ret = application_reader__read(entry->reader, &writer->process, entry->rows,
					      entry->turns.rows, entry->turns.count);
}

/*
 * An empty row means that the value is missing, as in the rows of the module.  A row that was not
 * fetched keeps the time of its values.
 */
static void write_rows(struct written_entry *entry, bool are_empty)
{
	const struct application_row *row = entry->turns.rows;
	const struct application_row *end = row + (are_empty ? 0 : entry->turns.count);

	for (; row < end; row++)
		record__write(entry->record, row->row, entry->time, 0,
			      entry->rows + (size_t)row->row * entry->flat.schema->length, 1, 0);
	record__finish(entry->record, are_empty ? 0 : entry->flat.rows);
	turns__end(&entry->turns, are_empty);
}

/*
 * Returns 0; -ESRCH once the process has ended; or -EFAULT if rows are empty, because a value is
 * not in memory or the bytes have got another meaning.
 */
static int pass(struct writer *writer)
{
	struct written_entry *entry;
	int ret = check(writer);
	uint32_t i;

	if (ret == -ESRCH)
		return ret;
	for (i = 0; !ret && i < writer->entry_count; i++) {
		fetch(writer, &writer->entries[i]);
		if (writer->entries[i].ret == -ESRCH)
			return -ESRCH;
	}
	ret = ret ?: check(writer);
	if (ret == -ESRCH || !application_process__has_program(&writer->process))
		return -ESRCH;
	for (i = 0; i < writer->entry_count; i++) {
		entry = &writer->entries[i];
		write_rows(entry, ret || entry->ret);
	}
	for (i = 0; !ret && i < writer->entry_count; i++)
		ret = writer->entries[i].ret;
	if (!ret)
		return 0;
	atomic_fetch_add(&writer->unreadable, 1);
	return -EFAULT;
}

static void writer__lose(struct writer *writer)
{
	uint32_t i;

	for (i = 0; i < writer->entry_count; i++)
		write_rows(&writer->entries[i], true);
	writer__tell(writer, WRITER_LOST);
}

/* The memory has no description at this moment.  Returns as the function below. */
static bool writer__miss(struct writer *writer)
{
	struct described *described = &writer->described;

	if (!described->missing_since)
		described->missing_since = described->time;
	if (described->time - described->missing_since < LOST_NS)
		return true;
	writer__lose(writer);
	return false;
}

/* @has_failed: rows are empty.  False: the thread ends, and has told why. */
static bool describe_again(struct writer *writer, bool has_failed)
{
	struct described *described = &writer->described;
	const uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	struct dart_application_layout *layout;
	int ret;

	if (described->pidfd < 0 ||
	    now - described->time < (has_failed ? DESCRIBE_MIN_NS : DESCRIBE_NS))
		return true;
	ret = application_mapped__describe(described->pidfd, described->format, &layout,
					   &described->why);
	described->time = dart_clock__ns(CLOCK_MONOTONIC);
	if (!ret && dart_application_layout__equals(layout, described->layout)) {
		dart_application_layout__free(layout);
		described->missing_since = 0;
		return true;
	}
	if (!ret)
		described->next = layout;
	if (!ret)
		writer__tell(writer, WRITER_DESCRIBED_ANEW);
	else if (ret == -ESRCH)
		writer__tell(writer, WRITER_PROCESS_ENDED);
	else if (ret == -EAGAIN || ret == -ENOMEM)
		return true;
	else
		return writer__miss(writer);
	return false;
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
	int ret;

	while (wait_until(writer, due)) {
		ret = pass(writer);
		if (ret == -ESRCH)
			writer__tell(writer, WRITER_PROCESS_ENDED);
		if (ret == -ESRCH || !describe_again(writer, ret))
			break;
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

enum writer_news writer__news(const struct writer *writer)
{
	return atomic_load(&writer->news);
}

struct dart_application_layout *writer__take_layout(struct writer *writer)
{
	struct dart_application_layout *layout = writer->described.next;

	writer->described.next = NULL;
	return layout;
}

const struct dart_error *writer__why(const struct writer *writer)
{
	return &writer->described.why;
}

uint64_t writer__unreadable(const struct writer *writer)
{
	return atomic_load(&writer->unreadable);
}

uint64_t writer__missed(const struct writer *writer)
{
	return atomic_load(&writer->missed);
}
