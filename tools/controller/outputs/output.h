/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An output: a descriptor and a thread that writes texts to it, so that a slow, blocked or full
 * descriptor delays no other thread.
 *
 * Texts wait in a queue that is bounded in bytes. If the queue is full, the output drops and counts
 * texts, and reports the loss once an hour in another output, the log. The thread writes a text
 * whole or not at all, unless the output is closed in the middle.
 */
#ifndef CONTROLLER_OUTPUT_H
#define CONTROLLER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output_figures.h"

/*
 * Bounds of the waiting bytes: 4 MiB, the size of one scrape of a host with a thousand cgroups, and
 * 64 KiB for each target, two seconds of a target with 8 KiB of values, 30 kB of JSON, each second.
 * A reader that lags further would never catch up.
 */
#define OUTPUT_BYTES (4U << 20)
#define OUTPUT_TARGET_BYTES (64U << 10)

struct output;

/*
 * Starts to write to @fd, which stays the caller's; messages call it @name, which is not copied. At
 * most @bound bytes wait, or one longer text. @log outlives the output; NULL suppresses the
 * reports. Returns 0 or -errno.
 */
int output__open(int fd, const char *name, size_t bound, struct output *log,
		 struct output **output);
/*
 * Callable from any thread. With @waits, output__write() sleeps until the queue makes room instead
 * of dropping: for callers that can wait, such as a replay. Without @waits, sleeping callers wake
 * up, and drop their texts.
 */
void output__set_waits(struct output *output, bool waits);
/* Callable from any thread: sets the number of bytes that may wait from now on. */
void output__set_bound(struct output *output, size_t bound);
/*
 * Ends the thread at once, even if it is blocked, drops the remaining texts, and reports their
 * number in the log. The caller guarantees that no other thread uses the output any more. Ignores
 * NULL.
 */
void output__close(struct output *output);

/*
 * Callable from any thread, without waiting unless output__set_waits() says so. Takes ownership of
 * @text of @length bytes, which was allocated by malloc() or is NULL if its allocation failed.
 * Returns 0; -ENOBUFS if the text is dropped; or -ENOMEM.
 */
int output__write(struct output *output, char *text, size_t length);
/* Writes beyond the bound of the queue, for rare texts that must not be dropped. */
int output__write_always(struct output *output, char *text, size_t length);
/* Replaces the text that was shown last, unless the thread has begun to write it. */
int output__show(struct output *output, char *text, size_t length);
/* Writes one line, without control characters: see DART_ESCAPE_SENTENCE in escape.h of libdart. */
void output__print(struct output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Called in the event loop after the last text: the thread ends once it has written all texts. */
void output__end(struct output *output);
/*
 * Drops every text that the thread has not begun. The thread finishes the text in progress, and
 * then ends if output__end() was called.
 */
void output__give_up(struct output *output);
/*
 * Returns a descriptor that becomes readable when the output has failed or all texts are written,
 * and stays readable until output__has_ended() is called.
 */
int output__event_fd(const struct output *output);
/*
 * True once the thread has ended, after all texts were written, or dropped because the output
 * failed.
 */
bool output__has_ended(struct output *output);
/* Returns the reason of a failure as -errno, or 0. After a failure the output drops all texts. */
int output__error(const struct output *output);
uint64_t output__dropped(const struct output *output);
/* Returns the number of bytes written, which grows as long as a reader takes them. */
uint64_t output__written(const struct output *output);
/* Fills in the figures of the output @data: an output_list_fill. */
void output__figures(void *data, struct output_figures *figures);

#endif /* CONTROLLER_OUTPUT_H */
