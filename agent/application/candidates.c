// SPDX-License-Identifier: GPL-2.0-only
/* Keeps processes that are tried again: see candidates.h. */
#include "candidates.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <libdart/clock.h>

#define TRY_FIRST_US 20000
#define TRIES_MAX 10 /* the last one after 20 s */
#define CANDIDATES_MAX 256

struct candidate {
	TAILQ_ENTRY(candidate) link;
	pid_t pid;
	int pidfd;
	unsigned int tries;
	uint64_t due; /* us, CLOCK_MONOTONIC */
};

static uint64_t now_us(void)
{
	return dart_clock__ns(CLOCK_MONOTONIC) / 1000;
}

void candidates__open(struct candidates *candidates)
{
	*candidates = (struct candidates){};
	TAILQ_INIT(&candidates->list);
}

static void candidates__forget(struct candidates *candidates, struct candidate *candidate)
{
	TAILQ_REMOVE(&candidates->list, candidate, link);
	candidates->count--;
	close(candidate->pidfd);
	free(candidate);
}

void candidates__close(struct candidates *candidates)
{
	struct candidate *candidate;

	while ((candidate = TAILQ_FIRST(&candidates->list)))
		candidates__forget(candidates, candidate);
}

static void candidate__schedule(struct candidate *candidate)
{
	candidate->due = now_us() + ((uint64_t)TRY_FIRST_US << candidate->tries++);
}

void candidates__add(struct candidates *candidates, pid_t pid, int pidfd)
{
	struct candidate *candidate;

	TAILQ_FOREACH(candidate, &candidates->list, link)
		if (candidate->pid == pid)
			break;
	if (candidate || candidates->count == CANDIDATES_MAX)
		goto close_pidfd;
	candidate = calloc(1, sizeof(*candidate));
	if (!candidate)
		goto close_pidfd;
	candidate->pid = pid;
	candidate->pidfd = pidfd;
	candidate__schedule(candidate);
	TAILQ_INSERT_TAIL(&candidates->list, candidate, link);
	candidates->count++;
	return;

close_pidfd:
	close(pidfd);
}

uint64_t candidates__delay(const struct candidates *candidates)
{
	const struct candidate *candidate;
	uint64_t now = now_us(), due = UINT64_MAX;

	if (!candidates->count)
		return UINT64_MAX;
	TAILQ_FOREACH(candidate, &candidates->list, link)
		if (candidate->due < due)
			due = candidate->due;
	return due > now ? due - now : 0;
}

static bool has_ended(const struct candidate *candidate)
{
	struct pollfd end = { .fd = candidate->pidfd, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

bool candidates__try(struct candidates *candidates,
		     bool (*try)(void *userdata, pid_t pid, int pidfd, bool is_last_try),
		     void *userdata)
{
	struct candidate *candidate, *next;
	const uint64_t now = now_us();
	bool has_one_ended = false;

	for (candidate = TAILQ_FIRST(&candidates->list); candidate; candidate = next) {
		next = TAILQ_NEXT(candidate, link);
		if (candidate->due > now)
			continue;
		if (try(userdata, candidate->pid, candidate->pidfd,
			candidate->tries == TRIES_MAX)) {
			candidate__schedule(candidate);
			continue;
		}
		has_one_ended |= has_ended(candidate);
		candidates__forget(candidates, candidate);
	}
	return has_one_ended;
}
