// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of an output: see output.h.
 *
 * The thread blocks in write(), because other processes may share the descriptor, and it must not
 * become non-blocking for them. output__close() cancels the thread in write_all(), and nowhere
 * else.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <libdart/escape.h>

#include "output.h"
#include "tools/controller/base/hourly.h"
#include "tools/controller/base/queue.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/base/thread.h"

struct text {
	struct queue_item item;
	char *bytes;
	size_t length;
};

struct output {
	int fd;
	struct pollfd room; /* polled for room after EAGAIN */
	const char *name;
	const char *kind; /* in figures */
	struct output *log;
	struct queue queue;
	/* The text to show; NULL if none waits, and then @due is not in the queue. */
	_Atomic(struct text *) shown;
	struct queue_item due;
	struct queue_item end;
	bool is_ending; /* used by the event loop only */
	pthread_t thread;
	struct text *writing; /* the thread's while it runs */
	size_t done; /* bytes of @writing that are written */

	int event; /* eventfd */
	atomic_bool has_ended;
	atomic_int error;
	atomic_uint_fast64_t dropped; /* number of texts */
	atomic_uint_fast64_t written; /* number of bytes */
	struct hourly drops; /* hourly report of dropped texts */
	struct output_error_holder last_error;
	atomic_bool waits;
	atomic_bool is_given_up;
	pthread_mutex_t lock; /* held by callers that wait for room */
	pthread_cond_t room_is_made;
};

static void text__free(struct text *text)
{
	if (!text)
		return;
	free(text->bytes);
	free(text);
}

/* Takes ownership of @bytes. NULL if memory ran out; @bytes are freed then. */
static struct text *text__new(char *bytes, size_t length)
{
	struct text *text = bytes ? malloc(sizeof(*text)) : NULL;

	if (!text) {
		free(bytes);
		return NULL;
	}
	text->bytes = bytes;
	text->length = length;
	return text;
}

static void output__drop(struct output *output)
{
	const uint64_t dropped = atomic_fetch_add(&output->dropped, 1) + 1;
	uint64_t since;

	/* output__fail() has already reported why a failed output drops all texts. */
	if (!output->log || output__error(output) ||
	    !hourly__take(&output->drops, monotonic_ns(), dropped, &since))
		return;
	output__print(
		output->log,
		"dart-controller: %s is read too slowly, or not at all: texts that do not fit are dropped (%llu so far, %llu of them since this was said)",
		output->name, (unsigned long long)dropped, (unsigned long long)since);
}

static void output__fail(struct output *output, int err)
{
	if (output->log)
		output__print(output->log, "dart-controller: cannot write to %s: %s", output->name,
			      strerror(-err));
	output_error_holder__set(&output->last_error, "not_writable", strerror(-err));
	atomic_store(&output->error, err);
	eventfd_write(output->event, 1);
}

/*
 * The only place where output__close() may cancel the thread. Its frames contain no variable whose
 * address is taken: AddressSanitizer would still guard the variable's place after the cancellation.
 * Returns 0 or -errno.
 */
static int write_all(struct output *output, const char *bytes, size_t length)
{
	struct pollfd *const room = &output->room;
	ssize_t written;
	int err = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	while (length && !err) {
		/* A pipe takes PIPE_BUF bytes whole or not at all, so @done is exact. */
		written = write(output->fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
		if (written >= 0) {
			atomic_fetch_add(&output->written, written);
			output->done += written;
			bytes += written;
			length -= written;
		} else if (errno == EAGAIN) {
			/* Another process has made the descriptor non-blocking. */
			poll(room, 1, -1);
		} else if (errno != EINTR) {
			err = -errno;
		}
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return err;
}

static void output__put(struct output *output, struct text *text)
{
	int err;

	output->writing = text;
	output->done = 0;
	if (output__error(output) || atomic_load(&output->is_given_up)) {
		output__drop(output);
	} else {
		err = write_all(output, text->bytes, text->length);
		if (err)
			output__fail(output, err);
	}
	output->writing = NULL;
	text__free(text);
}

/* Wakes callers that wait for room: the queue has room, or they need not wait any more. */
static void output__wake_waiting(struct output *output)
{
	pthread_mutex_lock(&output->lock);
	pthread_cond_broadcast(&output->room_is_made);
	pthread_mutex_unlock(&output->lock);
}

static void *output__run(void *data)
{
	struct output *output = data;
	struct queue_item *item;
	size_t cost;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	for (;;) {
		item = queue__wait(&output->queue);
		cost = item->cost;
		if (item == &output->end)
			break;
		if (item == &output->due)
			output__put(output, atomic_exchange(&output->shown, NULL));
		else
			output__put(output, caa_container_of(item, struct text, item));
		queue__release(&output->queue, cost);
		if (atomic_load(&output->waits))
			output__wake_waiting(output);
	}
	queue__release(&output->queue, cost);
	atomic_store(&output->has_ended, true);
	eventfd_write(output->event, 1);
	return NULL;
}

int output__open(int fd, const char *name, size_t bound, struct output *log,
		 struct output **outputp)
{
	struct output *output = calloc(1, sizeof(*output));
	int err;

	if (!output)
		return -ENOMEM;
	output->fd = fd;
	output->room = (struct pollfd){ .fd = fd, .events = POLLOUT };
	output->name = name;
	output->kind = fd == STDERR_FILENO ? "standard_error" : "standard_output";
	output->log = log;
	output_error_holder__open(&output->last_error);
	pthread_mutex_init(&output->lock, NULL);
	pthread_cond_init(&output->room_is_made, NULL);
	err = queue__open(&output->queue, bound);
	output->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!err && output->event < 0)
		err = -errno;
	if (!err)
		err = thread__start(&output->thread, name, output__run, output);
	if (err) {
		queue__close(&output->queue);
		if (output->event >= 0)
			close(output->event);
		free(output);
		return err;
	}
	*outputp = output;
	return 0;
}

void output__set_waits(struct output *output, bool waits)
{
	atomic_store(&output->waits, waits);
	output__wake_waiting(output);
}

void output__set_bound(struct output *output, size_t bound)
{
	queue__set_bound(&output->queue, bound);
}

void output__close(struct output *output)
{
	struct queue_item *item;
	uint64_t dropped;
	bool is_cut;

	if (!output)
		return;
	output__end(output);
	if (!output__has_ended(output))
		pthread_cancel(output->thread);
	pthread_join(output->thread, NULL);

	/* A cancelled thread leaves texts in the queue. */
	is_cut = output->writing && output->done;
	dropped = output__dropped(output) + !!output->writing;
	text__free(output->writing);
	text__free(atomic_load(&output->shown));
	while ((item = queue__take(&output->queue))) {
		if (item == &output->due || item == &output->end)
			continue;
		text__free(caa_container_of(item, struct text, item));
		dropped++;
	}
	if (dropped && output->log && !output__error(output))
		output__print(
			output->log,
			"dart-controller: %llu samples were not written to %s: it was read too slowly%s",
			(unsigned long long)dropped, output->name,
			is_cut ? ", and its last line is cut" : "");
	queue__close(&output->queue);
	close(output->event);
	pthread_cond_destroy(&output->room_is_made);
	pthread_mutex_destroy(&output->lock);
	output_error_holder__close(&output->last_error);
	free(output);
}

/* Does queue__put(), but waits for room if the output waits and has not failed. */
static bool output__queue(struct output *output, struct text *text)
{
	const size_t cost = sizeof(*text) + text->length;
	bool is_put = queue__put(&output->queue, &text->item, cost);

	if (is_put || !atomic_load(&output->waits))
		return is_put;
	pthread_mutex_lock(&output->lock);
	while (!(is_put = queue__put(&output->queue, &text->item, cost)) &&
	       atomic_load(&output->waits) && !output__error(output))
		pthread_cond_wait(&output->room_is_made, &output->lock);
	pthread_mutex_unlock(&output->lock);
	return is_put;
}

int output__write(struct output *output, char *bytes, size_t length)
{
	struct text *text = text__new(bytes, length);

	if (text && output__queue(output, text))
		return 0;
	output__drop(output);
	if (!text)
		return -ENOMEM;
	text__free(text);
	return -ENOBUFS;
}

int output__write_always(struct output *output, char *bytes, size_t length)
{
	struct text *text = text__new(bytes, length);

	if (!text) {
		output__drop(output);
		return -ENOMEM;
	}
	queue__put_always(&output->queue, &text->item, sizeof(*text) + length);
	return 0;
}

int output__show(struct output *output, char *bytes, size_t length)
{
	struct text *text = text__new(bytes, length), *before;

	if (!text) {
		output__drop(output);
		return -ENOMEM;
	}
	before = atomic_exchange(&output->shown, text);
	if (!before)
		queue__put_always(&output->queue, &output->due, 0);
	text__free(before);
	return 0;
}

void output__print(struct output *output, const char *format, ...)
{
	char *sentence, *line = NULL;
	va_list arguments;
	size_t length = 0;

	va_start(arguments, format);
	if (vasprintf(&sentence, format, arguments) < 0)
		sentence = NULL;
	va_end(arguments);
	/* The sentence may quote a peer, or a name of arbitrary bytes: print one line of UTF-8. */
	if (sentence) {
		line = dart_escape__new(sentence, DART_ESCAPE_SENTENCE);
		free(sentence);
	}
	if (line) {
		length = strlen(line);
		/* Replaces the terminating NUL, which is not part of a line. */
		line[length++] = '\n';
	}
	output__write(output, line, length);
}

void output__end(struct output *output)
{
	if (output->is_ending)
		return;
	output->is_ending = true;
	queue__put_always(&output->queue, &output->end, 0);
}

void output__give_up(struct output *output)
{
	atomic_store(&output->is_given_up, true);
}

int output__event_fd(const struct output *output)
{
	return output->event;
}

bool output__has_ended(struct output *output)
{
	eventfd_t count;

	eventfd_read(output->event, &count);
	return atomic_load(&output->has_ended);
}

int output__error(const struct output *output)
{
	return atomic_load(&output->error);
}

uint64_t output__dropped(const struct output *output)
{
	return atomic_load(&output->dropped);
}

void output__figures(void *data, struct output_figures *figures)
{
	struct output *output = data;

	output_figures__name(figures, output->kind, output->name);
	output_figures__set(figures, OUTPUT_QUEUE_BYTES, queue__used(&output->queue));
	output_figures__set(figures, OUTPUT_QUEUE_LIMIT_BYTES, queue__bound(&output->queue));
	output_figures__set(figures, OUTPUT_SENT_BYTES, output__written(output));
	output_figures__set(figures, OUTPUT_DROPPED_TEXTS, output__dropped(output));
	output_figures__set(figures, OUTPUT_FAILING, !!output__error(output));
	output_error_holder__copy(&output->last_error, &figures->error);
}

uint64_t output__written(const struct output *output)
{
	return atomic_load(&output->written);
}
