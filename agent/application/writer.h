/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gathers values of a running program without the module: a thread for each process copies them by
 * process_vm_readv(2), and writes them into rows of records.
 *
 * A process decides how long a copy takes: a page may lie on a file system that the owner of the
 * process serves.  So no other thread ever waits for this one, also not its end: a thread that
 * sleeps in a copy goes on alone, and ends when the copy does, or with dartd.
 *
 * Of memory that describes itself it makes the checks before and after each copy, and describes it
 * again when one fails, when a value is not in memory any more, and every few seconds, because a
 * program can add values.  Rows are empty while a check fails.
 */
#ifndef APPLICATION_WRITER_H
#define APPLICATION_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

#include "agent/schema/record_layout.h"
#include "mapped.h"
#include "process.h"

#define WRITER_THREADS_MAX 1024 /* also the ones that sleep after their writer was stopped */

struct writer;
struct writers;

/* What the writers of a dartd have in common.  @fd becomes readable when one of them has news. */
struct writers *writers__open(int *fd, struct dart_error *error);
/* All writers were stopped. */
void writers__close(struct writers *writers);

/*
 * Makes a writer without entries, which has its own copy of @process.  -EAGAIN: too many threads.
 */
int writer__new(struct writers *writers, const struct application_process *process,
		uint32_t gather_ms, struct writer **writer, struct dart_error *error);
/*
 * Adds an entry, before the start.  Takes @flat (see plan.h) over, even on error, and writes rows
 * with the pieces of @layout into the memory of the descriptor @fd, which stays the caller's.
 */
int writer__add(struct writer *writer, struct dart_application_entry *flat,
		const struct record_layout *layout, int fd, struct dart_error *error);
/*
 * Before the start: the memory of the process of @pidfd, which stays the caller's, describes itself
 * by @layout, which is taken over, even on error.
 */
int writer__describe(struct writer *writer, int pidfd, enum application_format format,
		     struct dart_application_layout *layout, struct dart_error *error);
int writer__start(struct writer *writer, struct dart_error *error);
/* From now on rows keep their values, at the latest after the current pass. */
void writer__stop(struct writer *writer);

/* The last three end the thread, and the rows keep their values. */
enum writer_news {
	WRITER_GOES_ON,
	WRITER_PROCESS_ENDED, /* or it executes another program */
	WRITER_DESCRIBED_ANEW, /* the memory has another layout */
	WRITER_LOST, /* the memory cannot be described any more; the rows are empty */
};
enum writer_news writer__news(const struct writer *writer);
/* The caller frees the layout of memory that was described anew. */
struct dart_application_layout *writer__take_layout(struct writer *writer);
/* Why the memory cannot be described any more. */
const struct dart_error *writer__why(const struct writer *writer);
/* Passes so far in which values were not in memory, or were copied too late. */
uint64_t writer__unreadable(const struct writer *writer);
uint64_t writer__missed(const struct writer *writer);

#endif /* APPLICATION_WRITER_H */
