// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the file of a journal anew while records are added: see journal.h.  Threads do all that
 * may wait for the disk, one task after the other: the caller only appends to files, as it does
 * anyway.
 * Between tasks there is no thread, and during a task nobody else uses its memory.
 *
 * The next file gets the records of the source, and then those that were added since, in their
 * order.  Until it has the name, the old file has all records.  Before the task that gives it the
 * name begins, it has all of them, too, and from then on records are written to both, so a process
 * that is killed at any instant leaves all of them under the name.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "journal_internal.h"

#define CHUNK 65536 /* bytes of the source that are written at once */
/* Bytes that the caller writes; if more are waiting, another task does so, for a few rounds. */
#define FEW 65536
#define ROUNDS 8

/* ---- tasks, in their threads */

static int create(struct journal_task *task)
{
	uint8_t header[JOURNAL_HEADER_LENGTH];

	unlink(task->next_path);
	task->fd = open(task->next_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (task->fd < 0)
		return -errno;
	journal__pack_header(header);
	return journal__append(task->fd, header, sizeof(header));
}

static int run_task(struct journal_task *task)
{
	switch (task->kind) {
	case TASK_CREATE:
		return create(task);
	case TASK_WRITE:
		return journal__append(task->fd, task->bytes, task->length);
	case TASK_REPLACE:
		if (fsync(task->fd) || rename(task->next_path, task->path))
			return -errno;
		journal__sync_directory(task->path);
		return 0;
	case TASK_LEAVE:
		unlink(task->next_path);
		break;
	case TASK_CLOSE:
		break;
	}
	/* Nothing names the file any more: its blocks are freed now. */
	if (task->fd >= 0)
		close(task->fd);
	return 0;
}

static void *run_thread(void *data)
{
	struct journal_task *task = data;

	task->result = run_task(task);
	eventfd_write(task->done, 1);
	return NULL;
}

/* ---- tasks, as their journal sees them */

/* Returns 0 or -errno. */
static int start(struct journal *journal, int kind, int fd)
{
	int ret;

	journal->task.kind = kind;
	journal->task.fd = fd;
	ret = pthread_create(&journal->thread, NULL, run_thread, &journal->task);
	journal->is_busy = !ret;
	return -ret;
}

/* Waits for the end of the task, which has come if the descriptor is readable. */
static int finish(struct journal *journal)
{
	eventfd_t count;

	pthread_join(journal->thread, NULL);
	journal->is_busy = false;
	eventfd_read(journal->task.done, &count);
	return journal->task.result;
}

/* Makes place for @length bytes of a task. */
static int need_bytes(struct journal_task *task, size_t length)
{
	uint8_t *bytes;

	if (task->size >= length)
		return 0;
	bytes = realloc(task->bytes, length);
	if (!bytes)
		return -ENOMEM;
	task->bytes = bytes;
	task->size = length;
	return 0;
}

/* ---- stages: functions return 0 if a task is under way, or -errno */

static void end_stages(struct journal *journal)
{
	journal->stage = STAGE_NONE;
	free(journal->task.bytes);
	journal->task.bytes = NULL;
	journal->task.size = 0;
}

static int fail(const struct journal *journal, struct dart_error *error)
{
	return dart_error__system(error, -journal->failure, "cannot write '%s'",
				  journal->next_path);
}

/* The old file goes on.  Returns as journal__proceed(). */
static int give_up(struct journal *journal, int code, struct dart_error *error)
{
	const int fd = journal->next.fd;

	free(journal->next.kept);
	journal->next = (struct journal_file){ .fd = -1 };
	journal->failure = code;
	journal->stage = STAGE_LEAVING;
	if (!start(journal, TASK_LEAVE, fd))
		return 1;
	run_task(&journal->task);
	end_stages(journal);
	return fail(journal, error);
}

/* Writes the next records of the source. */
static int copy(struct journal *journal)
{
	struct journal_task *task = &journal->task;
	struct journal_record record;
	int ret = need_bytes(task, CHUNK);

	task->length = 0;
	while (!ret && task->length + PACKED_MAX <= CHUNK) {
		ret = journal->source.next(journal->source.subject, &record);
		if (ret <= 0)
			break;
		task->length += journal__pack(&record, task->bytes + task->length);
		journal->next.records++;
		ret = 0;
	}
	if (ret)
		return ret;
	if (!task->length)
		journal->stage = STAGE_FOLLOWING;
	return start(journal, TASK_WRITE, journal->next.fd);
}

/* Writes the records that were added meanwhile. */
static int follow(struct journal *journal)
{
	struct journal_file *next = &journal->next;
	struct journal_task *task = &journal->task;
	uint8_t *const bytes = task->bytes;
	const size_t size = task->size;

	journal->rounds++;
	task->bytes = next->kept;
	task->size = next->size;
	task->length = next->length;
	next->kept = bytes;
	next->size = size;
	next->length = 0;
	next->records += next->kept_records;
	next->kept_records = 0;
	return start(journal, TASK_WRITE, next->fd);
}

static int replace(struct journal *journal)
{
	const int ret = journal__write_file(&journal->next);

	if (ret)
		return ret;
	journal->stage = STAGE_REPLACING;
	return start(journal, TASK_REPLACE, journal->next.fd);
}

static int next_task(struct journal *journal)
{
	/* Out of memory, or the disk is slower than records come. */
	if (journal->next.has_lost)
		return -ENOMEM;
	if (journal->stage == STAGE_BEGINNING) {
		journal->next.fd = journal->task.fd;
		journal->stage = STAGE_COPYING;
	}
	if (journal->stage == STAGE_COPYING)
		return copy(journal);
	if (journal->next.length > FEW && journal->rounds < ROUNDS)
		return follow(journal);
	return replace(journal);
}

/* The next file has the name. */
static int take_next(struct journal *journal)
{
	const int old = journal->now.fd;

	free(journal->now.kept);
	journal->now = journal->next;
	journal->next = (struct journal_file){ .fd = -1 };
	journal->stage = STAGE_CLOSING;
	if (!start(journal, TASK_CLOSE, old))
		return 1;
	run_task(&journal->task);
	end_stages(journal);
	return 0;
}

/* ---- for the caller */

int journal__begin_anew(struct journal *journal, const struct journal_source *source,
			struct dart_error *error)
{
	int ret;

	if (journal->stage != STAGE_NONE)
		return dart_error__set(error, EBUSY, "'%s' is being written", journal->next_path);
	journal->task.path = journal->path;
	journal->task.next_path = journal->next_path;
	journal->source = *source;
	journal->rounds = 0;
	ret = start(journal, TASK_CREATE, -1);
	if (ret)
		return dart_error__system(error, -ret, "cannot start a thread");
	journal->stage = STAGE_BEGINNING;
	return 0;
}

int journal__proceed(struct journal *journal, struct dart_error *error)
{
	int ret;

	if (journal->stage == STAGE_NONE)
		return 0;
	ret = finish(journal);
	switch (journal->stage) {
	case STAGE_CLOSING:
		end_stages(journal);
		return 0;
	case STAGE_LEAVING:
		end_stages(journal);
		return fail(journal, error);
	case STAGE_REPLACING:
		return ret ? give_up(journal, ret, error) : take_next(journal);
	default:
		if (ret && journal->stage == STAGE_BEGINNING)
			journal->next.fd = journal->task.fd;
		ret = ret ?: next_task(journal);
		return ret ? give_up(journal, ret, error) : 1;
	}
}

int journal__compact(struct journal *journal, const struct journal_source *source,
		     struct dart_error *error)
{
	struct pollfd done = { .fd = journal->task.done, .events = POLLIN };
	int ret = journal__begin_anew(journal, source, error) ?: 1;

	while (ret > 0) {
		poll(&done, 1, -1);
		ret = journal__proceed(journal, error);
	}
	return ret;
}

int journal__fd(const struct journal *journal)
{
	return journal->task.done;
}

bool journal__is_anew(const struct journal *journal)
{
	return journal->stage != STAGE_NONE;
}

void journal__stop_anew(struct journal *journal)
{
	int ret;

	if (journal->stage == STAGE_NONE)
		return;
	ret = finish(journal);
	if (journal->stage == STAGE_BEGINNING)
		journal->next.fd = journal->task.fd;
	if (journal__has_next(journal) && (journal->stage != STAGE_REPLACING || ret))
		unlink(journal->next_path);
	end_stages(journal);
}
