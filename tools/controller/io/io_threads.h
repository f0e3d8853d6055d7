/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The I/O threads of a controller, and the endpoints that they share.  They are in teams, among
 * which the targets are shared out: a team has one thread that waits for events, one that polls, or
 * both (ZERO, section 4.3, "Hybrid I/O model"): then scrapes of few fragments are polled, because
 * to sleep and wake up takes longer than they do, and for long ones that does not matter.  Targets
 * that are called have another thread of the team, so that copying and deciphering answers delays
 * no READ; it begins with the first of them.
 *
 * A target stays in its team.  Teams share no lock and no queue on the way of a scrape: each has an
 * equal part of the credits (see flow/flow.h), and queue pairs of two threads are in different
 * groups.  The workers that decode are shared by all.
 *
 * The control loop calls these functions.
 */
#ifndef CONTROLLER_IO_THREADS_H
#define CONTROLLER_IO_THREADS_H

#include "io_thread.h"
#include "tools/controller/settings/settings.h"

struct io_team {
	struct io_thread *event; /* or NULL */
	struct io_thread *poll; /* the same */
	struct io_thread *call; /* NULL: no target of the team was called so far */
	uint32_t targets;
	uint64_t load; /* of these */
};

struct io_threads {
	struct dart_endpoint_set *set;
	struct io_team teams[SETTINGS_IO_THREADS_MAX];
	unsigned int team_count;
	struct flow_control *flow_control;
	uint32_t polled_fragments; /* scrapes of fewer are polled */
	bool polls_likely; /* targets whose scrapes are not known yet */
};

/*
 * Each completion calls @completed in its thread; @is_alone: there will never be more than
 * one target.  Returns 0, or -errno with a sentence; io_threads__stop() and __free() clean
 * up in both cases.
 */
int io_threads__start(struct io_threads *threads, const struct settings *settings, bool is_alone,
		      struct flow_control *flow_control,
		      dart_endpoint_completion_handler *completed, struct dart_error *error);
/* The threads end; targets belong to the caller. */
void io_threads__stop(struct io_threads *threads);
/* After all endpoints were freed. */
void io_threads__free(struct io_threads *threads);

/*
 * Puts a target into the team with the least load.  Its own @load is in any unit, which is the same
 * for all targets.  Returns the team.
 */
unsigned int io_threads__join(struct io_threads *threads, uint64_t load);
/* The target, with the same @load, leaves its team. */
void io_threads__leave(struct io_threads *threads, unsigned int team, uint64_t load);

/* The thread for scrapes by READs of so many fragments; 0: not known. */
struct io_thread *io_threads__choose(struct io_threads *threads, unsigned int team,
				     uint64_t fragments);
/* The thread of targets that are called.  Returns 0 or -errno. */
int io_threads__call(struct io_threads *threads, unsigned int team, struct io_thread **thread);

/* Three kinds in each team, and workers. */
#define IO_FIGURES_MAX (3 * SETTINGS_IO_THREADS_MAX + SETTINGS_WORKERS_MAX)

/* Looks at all threads that run, and at @workers; returns their number. */
unsigned int io_threads__look(const struct io_threads *threads, const struct workers *workers,
			      struct thread_figures figures[static IO_FIGURES_MAX]);

#endif /* CONTROLLER_IO_THREADS_H */
