/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Candidates: processes that have started, and may become instances.  A program needs some time
 * until its memory shows that its layout fits, so each is tried again, at ever longer times.
 */
#ifndef APPLICATION_CANDIDATES_H
#define APPLICATION_CANDIDATES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct candidates {
	TAILQ_HEAD(, candidate) list;
	unsigned int count;
};

void candidates__open(struct candidates *candidates);
void candidates__close(struct candidates *candidates);

/* Takes @pidfd over, and keeps it so that @pid stays the process's; drops it if there are many. */
void candidates__add(struct candidates *candidates, pid_t pid, int pidfd);
/* us until the next try; UINT64_MAX if there is no candidate. */
uint64_t candidates__delay(const struct candidates *candidates);
/*
 * Calls @try for each candidate whose time has come, and forgets those for which it returns false.
 * Returns true if one of these has ended.
 */
bool candidates__try(struct candidates *candidates,
		     bool (*try)(void *userdata, pid_t pid, int pidfd, bool is_last_try),
		     void *userdata);

#endif /* APPLICATION_CANDIDATES_H */
