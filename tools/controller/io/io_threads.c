// SPDX-License-Identifier: GPL-2.0-only
/* Starts teams of I/O threads, and chooses a team and a thread for a target. */
#include "io_threads.h"

#include <stdio.h>

/* Operations in flight of the only agent. */
#define DEPTH_ALONE 1024

/* Two kinds of threads, each in all teams. */
_Static_assert(2 * SETTINGS_IO_THREADS_MAX <= DART_ENDPOINT_THREADS,
	       "a set of endpoints has no room for all I/O threads");

/* A name tells the teams apart only if there are several. */
static int io_threads__start_one(const struct io_threads *threads, unsigned int team,
				 const char *kind, struct io_thread_parts *parts,
				 struct io_thread **thread)
{
	char name[THREAD_NAME_MAX];

	snprintf(name, sizeof(name), threads->team_count > 1 ? "%s %u" : "%s", kind, team);
	parts->name = name;
	parts->credits = flow_control__pool(threads->flow_control, team);
	return io_thread__start(parts, thread);
}

/* @parts has the number of the next thread in the set. */
static int io_threads__start_team(struct io_threads *threads, unsigned int number, bool waits,
				  bool polls, struct io_thread_parts *parts)
{
	struct io_team *team = &threads->teams[number];
	int err = 0;

	if (waits) {
		parts->polls = false;
		err = io_threads__start_one(threads, number, "io event", parts, &team->event);
		parts->number++;
	}
	if (!err && polls) {
		parts->polls = true;
		err = io_threads__start_one(threads, number, "io poll", parts, &team->poll);
		parts->number++;
	}
	return err;
}

/* Bit N: thread N of the set polls. */
static uint32_t polling_threads(unsigned int teams, bool waits, bool polls)
{
	const unsigned int kinds = waits + polls;
	uint32_t polling = 0;
	unsigned int i;

	for (i = 0; polls && i < teams; i++)
		polling |= 1U << (i * kinds + waits);
	return polling;
}

int io_threads__start(struct io_threads *threads, const struct settings *settings, bool is_alone,
		      struct flow_control *flow_control,
		      dart_endpoint_completion_handler *completed, struct dart_error *error)
{
	const enum settings_io io = settings->io ?: SETTINGS_IO_EVENT;
	const unsigned int teams = settings__io_teams(settings, is_alone);
	const bool waits = io != SETTINGS_IO_POLL;
	const bool polls = io != SETTINGS_IO_EVENT;
	const struct dart_endpoint_sizes sizes = {
		.group = is_alone ? 1 : settings->io_group,
		.depth = is_alone ? DEPTH_ALONE : 0,
		.threads = teams * (waits + polls),
		.polling = polling_threads(teams, waits, polls),
	};
	struct io_thread_parts parts = { .completed = completed };
	unsigned int i;
	int err;

	threads->team_count = teams;
	threads->flow_control = flow_control;
	threads->polled_fragments = settings->io_fragments ?: SETTINGS_IO_FRAGMENTS_DEFAULT;
	threads->polls_likely = !waits;
	err = dart_endpoint_set__new(&sizes, &threads->set, error);
	if (err)
		return err;
	dart_endpoint_set__mark(threads->set, settings->dscp);
	if (settings->mirror_bytes)
		dart_endpoint_set__offer_mirrors(threads->set, settings->mirror_bytes /
							      DART_CONTROL_BLOCK *
							      DART_CONTROL_BLOCK);
	parts.set = threads->set;
	for (i = 0; !err && i < teams; i++)
		err = io_threads__start_team(threads, i, waits, polls, &parts);
	return err ? dart_error__system(error, -err, "cannot start an I/O thread") : 0;
}

void io_threads__stop(struct io_threads *threads)
{
	const struct io_team *team;

	for (team = threads->teams; team < threads->teams + threads->team_count; team++) {
		io_thread__stop(team->event);
		io_thread__stop(team->poll);
		io_thread__stop(team->call);
	}
}

void io_threads__free(struct io_threads *threads)
{
	const struct io_team *team;

	for (team = threads->teams; team < threads->teams + threads->team_count; team++) {
		io_thread__free(team->event);
		io_thread__free(team->poll);
		io_thread__free(team->call);
	}
	dart_endpoint_set__free(threads->set);
}

unsigned int io_threads__join(struct io_threads *threads, uint64_t load)
{
	struct io_team *least = threads->teams;
	struct io_team *team;

	for (team = threads->teams; team < threads->teams + threads->team_count; team++)
		if (team->load < least->load)
			least = team;
	least->targets++;
	least->load += load;
	return least - threads->teams;
}

void io_threads__leave(struct io_threads *threads, unsigned int team, uint64_t load)
{
	threads->teams[team].targets--;
	threads->teams[team].load -= load;
}

struct io_thread *io_threads__choose(struct io_threads *threads, unsigned int number,
				     uint64_t fragments)
{
	const struct io_team *team = &threads->teams[number];

	/* Most fleets are of one kind: the next target is like the last. */
	if (fragments && team->event && team->poll)
		threads->polls_likely = fragments < threads->polled_fragments;
	return threads->polls_likely ? team->poll : team->event;
}

int io_threads__call(struct io_threads *threads, unsigned int number, struct io_thread **thread)
{
	struct io_team *team = &threads->teams[number];
	struct io_thread_parts parts = {};
	int err = 0;

	if (!team->call)
		err = io_threads__start_one(threads, number, "io call", &parts, &team->call);
	*thread = team->call;
	return err;
}

unsigned int io_threads__look(const struct io_threads *threads, const struct workers *workers,
			      struct thread_figures figures[static IO_FIGURES_MAX])
{
	const struct io_team *team;
	unsigned int i, count = 0;

	for (team = threads->teams; team < threads->teams + threads->team_count; team++) {
		if (team->event)
			io_thread__look(team->event, &figures[count++]);
		if (team->poll)
			io_thread__look(team->poll, &figures[count++]);
		if (team->call)
			io_thread__look(team->call, &figures[count++]);
	}
	for (i = 0; i < workers__count(workers); i++)
		workers__look(workers, i, &figures[count++]);
	return count;
}
