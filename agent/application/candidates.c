// SPDX-License-Identifier: GPL-2.0-only
/* Keeps processes that are tried again: see candidates.h. */
#include "candidates.h"

#include <stdlib.h>
#include <unistd.h>

#include <libdart/clock.h>

#define TRY_FIRST_US 20000
#define CANDIDATES_MAX 256

struct candidate {
	TAILQ_ENTRY(candidate) link;
	struct candidate_process process;
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
	if (candidate->process.pidfd >= 0)
		close(candidate->process.pidfd);
	free(candidate);
}

void candidates__close(struct candidates *candidates)
{
	struct candidate *candidate;

	while ((candidate = TAILQ_FIRST(&candidates->list)))
		candidates__forget(candidates, candidate);
}

bool candidates__add(struct candidates *candidates, const struct candidate_process *process)
{
	struct candidate *candidate;
	bool is_listed = false;

	TAILQ_FOREACH(candidate, &candidates->list, link)
		is_listed |= candidate->process.pid == process->pid;
	if (is_listed || candidates->count == CANDIDATES_MAX ||
	    candidate__has_last_try(process->tries))
		goto close_pidfd;
	candidate = calloc(1, sizeof(*candidate));
	if (!candidate)
		goto close_pidfd;
	candidate->process = *process;
	candidate->due = now_us() + ((uint64_t)TRY_FIRST_US << process->tries);
	TAILQ_INSERT_TAIL(&candidates->list, candidate, link);
	candidates->count++;
	return true;

close_pidfd:
	close(process->pidfd);
	return is_listed;
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

bool candidates__take(struct candidates *candidates, struct candidate_process *process)
{
	const uint64_t now = now_us();
	struct candidate *candidate;

	TAILQ_FOREACH(candidate, &candidates->list, link)
		if (candidate->due <= now)
			break;
	if (!candidate)
		return false;
	*process = candidate->process;
	process->tries++;
	candidate->process.pidfd = -1;
	candidates__forget(candidates, candidate);
	return true;
}
