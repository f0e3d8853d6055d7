// SPDX-License-Identifier: GPL-2.0-only
/* Writes messages to stderr, for a terminal or the journal. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <libdart/escape.h>

#include "counts.h"
#include "log.h"

#define INTERVAL_NS (LOG_INTERVAL_MS * INT64_C(1000000))

static bool to_journal;
static uint64_t *suppressed;	/* in all, or NULL */
static SLIST_HEAD(, log_limit) limits = SLIST_HEAD_INITIALIZER(limits);

/* JOURNAL_STREAM holds the device and inode of systemd's stream. */
void log__open(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char ours[64];
	struct stat status;

	if (!stream || fstat(STDERR_FILENO, &status))
		return;
	snprintf(ours, sizeof(ours), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
	to_journal = !strcmp(stream, ours);
}

void log__write(int priority, const char *format, ...)
{
	char sentence[1024], message[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);

	/* A message may quote names that clients chose: keep it on one line, and UTF-8. */
	dart_escape__text(sentence, sizeof(sentence), DART_ESCAPE_SENTENCE,
			  message, sizeof(message));

	if (to_journal)
		fprintf(stderr, "<%d>%s\n", priority, message);
	else
		fprintf(stderr, "dartd: %s\n", message);
}

/* Takes a message out of the reserve; false if that is empty. */
static bool log_limit__take(struct log_limit *limit)
{
	int64_t now = dart_clock__ns(CLOCK_BOOTTIME);
	int64_t full_at = limit->full_at > now ? limit->full_at : now;

	full_at += INTERVAL_NS;
	if (full_at - now > LOG_BURST * INTERVAL_NS)
		return false;
	limit->full_at = full_at;
	return true;
}

static void log_limit__tell(struct log_limit *limit)
{
	if (!limit->suppressed)
		return;
	log__write(limit->priority, "%ju similar messages suppressed, the last: %s",
		   (uintmax_t)limit->suppressed, limit->last);
	limit->suppressed = 0;
	SLIST_REMOVE(&limits, limit, log_limit, link);
}

void log__write_limited(struct log_limit *limit, int priority, const char *format, ...)
{
	char message[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);

	if (log_limit__take(limit)) {
		log_limit__tell(limit);
		log__write(priority, "%s", message);
		return;
	}
	if (suppressed)
		count__add(suppressed, 1);
	if (!limit->suppressed++)
		SLIST_INSERT_HEAD(&limits, limit, link);
	limit->priority = priority;
	snprintf(limit->last, sizeof(limit->last), "%.*s", (int)sizeof(limit->last) - 1, message);
}

void log__count_suppressed(uint64_t *count)
{
	suppressed = count;
}

void log__close(void)
{
	while (!SLIST_EMPTY(&limits))
		log_limit__tell(SLIST_FIRST(&limits));
}
