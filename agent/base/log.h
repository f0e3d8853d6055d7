/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log: one line per message on stderr, prefixed with the priority (see
 * sd-daemon(3)) if stderr is the journal.
 *
 * Messages that a remote peer or an unprivileged client can cause are limited, or
 * they could fill the disk: each kind has LOG_BURST messages in reserve and gets
 * another one every LOG_INTERVAL_MS.  The others are counted; the next message of
 * the kind, or log__close(), is preceded by their number.  No timer runs.
 */
#ifndef LOG_H
#define LOG_H

#include <stdint.h>
#include <sys/queue.h>
#include <syslog.h>

#define LOG_BURST 20
#define LOG_INTERVAL_MS 5000

/* Of one kind of messages.  Static, because the log remembers it; zeroed at first. */
struct log_limit {
	SLIST_ENTRY(log_limit) link;	/* limits with suppressed messages */
	int64_t full_at;	/* ns, CLOCK_BOOTTIME: the reserve is full again */
	uint64_t suppressed;	/* since the last message */
	int priority;		/* of the last suppressed one */
	char last[256];		/* its beginning */
};

/* Finds out whether stderr is the journal. */
void log__open(void);
/* Adds each suppressed message to *@count from now on; NULL: no longer. */
void log__count_suppressed(uint64_t *count);
/* Writes how many messages were suppressed. */
void log__close(void);

__attribute__((format(printf, 2, 3))) void log__write(int priority, const char *format, ...);

#define log__error(...) log__write(LOG_ERR, __VA_ARGS__)
#define log__warning(...) log__write(LOG_WARNING, __VA_ARGS__)
#define log__info(...) log__write(LOG_INFO, __VA_ARGS__)

__attribute__((format(printf, 3, 4))) void log__write_limited(struct log_limit *limit, int priority,
							      const char *format, ...);

/* Each call is one kind. */
#define log__limited(priority, ...)                                            \
	do {                                                                   \
		static struct log_limit limit_;                                \
		log__write_limited(&limit_, priority, __VA_ARGS__);            \
	} while (0)
#define log__peer_error(...) log__limited(LOG_ERR, __VA_ARGS__)
#define log__peer_warning(...) log__limited(LOG_WARNING, __VA_ARGS__)
#define log__peer_info(...) log__limited(LOG_INFO, __VA_ARGS__)

#endif /* LOG_H */
