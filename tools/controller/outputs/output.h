/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An output: a descriptor that texts are written to by a thread of its own, so that one
 * that is slow, blocked or full delays no other thread.
 *
 * Texts wait in a queue that is bounded in bytes.  If it is full they are dropped and
 * counted, which is said in another output, the log, once an hour.  A text is written
 * whole or not at all, unless the output is closed in the middle.
 */
#ifndef CONTROLLER_OUTPUT_H
#define CONTROLLER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output_figures.h"

/*
 * Bytes that wait: 4 MiB, as many as a host of a thousand cgroups has in a scrape, and
 * 64 KiB for each target, which are two seconds of one with 8 KiB of values, 30 kB of
 * JSON, each second.  A reader that is further behind does not catch up.
 */
#define OUTPUT_BYTES (4U << 20)
#define OUTPUT_TARGET_BYTES (64U << 10)

struct output;

/*
 * Starts to write to @fd, which stays the caller's; messages call it @name, which is not
 * copied.  At most @bound bytes wait, or one text that is longer.  @log outlives the output;
 * NULL: nothing is said.  Returns 0 or -errno.
 */
int output__open(int fd, const char *name, size_t bound, struct output *log,
		 struct output **output);
/*
 * In any thread.  With @waits, output__write() sleeps until there is room instead of dropping:
 * for what can wait, such as a replay.  Without, those that sleep go on, and drop.
 */
void output__set_waits(struct output *output, bool waits);
/* In any thread: from now on so many bytes may wait. */
void output__set_bound(struct output *output, size_t bound);
/*
 * Ends the thread at once, even if it is blocked: the rest of the texts is dropped.  How
 * many were is said in the log.  No other thread uses the output any more.  NULL is allowed.
 */
void output__close(struct output *output);

/*
 * In any thread; none of them waits, but see output__set_waits().  They take @text of @length bytes, which was allocated
 * by malloc() or is NULL if there was no memory for it.  Return 0; -ENOBUFS if it is
 * dropped, or -ENOMEM.
 */
int output__write(struct output *output, char *text, size_t length);
/* Beyond the bound, for what is rare and must not be dropped. */
int output__write_always(struct output *output, char *text, size_t length);
/* In place of the text that was shown last, if that is not written yet. */
int output__show(struct output *output, char *text, size_t length);
/* A line, without control characters: see DART_ESCAPE_SENTENCE in escape.h of libdart. */
void output__print(struct output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * In the event loop.  No further text comes: the thread ends once all are written.
 */
void output__end(struct output *output);
/*
 * Texts that are not begun are dropped.  The one that is under way is still written, and then
 * the thread ends if output__end() was called.
 */
void output__give_up(struct output *output);
/*
 * Readable, until output__has_ended() is called, after the output has failed or all texts
 * are written.
 */
int output__event_fd(const struct output *output);
/* Is all written, or dropped because the output has failed, and has the thread ended? */
bool output__has_ended(struct output *output);
/* Why it failed, as -errno; 0: it has not.  All texts are dropped from then on. */
int output__error(const struct output *output);
uint64_t output__dropped(const struct output *output);
/* Grows as long as somebody reads. */
uint64_t output__written(const struct output *output);
/* Those of the output @data: an output_list_fill. */
void output__figures(void *data, struct output_figures *figures);

#endif /* CONTROLLER_OUTPUT_H */
