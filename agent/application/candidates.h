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

#define CANDIDATE_TRIES_MAX 10 /* the last one after 20 s */

struct candidates {
	TAILQ_HEAD(, candidate) list;
	unsigned int count;
};

void candidates__open(struct candidates *candidates);
void candidates__close(struct candidates *candidates);

/* A process that may become an instance. */
struct candidate_process {
	pid_t pid;
	int pidfd; /* keeps @pid the process's */
	unsigned int tries; /* so far */
	bool is_likely; /* its program is known, but not ready */
};

/*
 * Takes the pidfd over.  True: the process is a candidate, perhaps since before.  False: it is
 * dropped; it was tried often enough, or there are many.
 */
bool candidates__add(struct candidates *candidates, const struct candidate_process *process);
/* us until the next try; UINT64_MAX if there is no candidate. */
uint64_t candidates__delay(const struct candidates *candidates);
/*
 * Takes a candidate whose time has come out of the list, with its pidfd, and counts the try.
 * Returns false if no candidate is due.
 */
bool candidates__take(struct candidates *candidates, struct candidate_process *process);

/* Is a process that was tried @tries times before not tried again? */
static inline bool candidate__has_last_try(unsigned int tries)
{
	return tries == CANDIDATE_TRIES_MAX;
}

#endif /* APPLICATION_CANDIDATES_H */
