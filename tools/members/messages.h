/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages on standard error: a bounded number in a minute, because ZooKeeper's library writes
 * several lines each time that it tries a server in vain, some thirty times a second.
 */
#ifndef MEMBERS_MESSAGES_H
#define MEMBERS_MESSAGES_H

/* Lines of the library in a minute; afterwards their number alone is said. */
#define MESSAGES_LINES_MAX 6U
/* Sentences of this program in a minute. */
#define MESSAGES_SENTENCES_MAX 30U

/* A sentence of this program.  In any thread. */
__attribute__((format(printf, 1, 2))) void messages__say(const char *format, ...);
/* A line of ZooKeeper's library, with or without a line feed.  In any thread. */
void messages__take_line(const char *line);

#endif /* MEMBERS_MESSAGES_H */
