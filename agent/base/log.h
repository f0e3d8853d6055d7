/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log: one line per message on stderr, prefixed with the priority (see
 * sd-daemon(3)) if stderr is the journal.
 */
#ifndef LOG_H
#define LOG_H

#include <syslog.h>

/* Finds out whether stderr is the journal. */
void log__open(void);

__attribute__((format(printf, 2, 3)))
void log__write(int priority, const char *format, ...);

#define log__error(...) log__write(LOG_ERR, __VA_ARGS__)
#define log__warning(...) log__write(LOG_WARNING, __VA_ARGS__)
#define log__info(...) log__write(LOG_INFO, __VA_ARGS__)

#endif /* LOG_H */
