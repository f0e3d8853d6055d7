/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Has the queue pairs of servers renewed that stay silent.  A switch settles lost requests and
 * responses itself, by probes.  It cannot settle a next PSN that is farther from the PSN that the
 * server expects than requests can wait: then only a new queue pair helps, which the server's agent
 * makes.  This process cannot reach all agents, so it runs a command of the
 * operator.
 */
#ifndef LOOKUP_RENEWALS_H
#define LOOKUP_RENEWALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/tea/tea_tables.h>

#include "tools/dartctl/switch/thrift/thrift.h"

#define LOOKUP_RENEWALS_LOOK_MS 200 /* the pause between looks */

/* One server.  Times are ms of CLOCK_MONOTONIC; begin with bytes of 0. */
struct lookup_renewal {
	bool is_silent;
	int64_t due_at;
	int pause_ms; /* after the next renewal */
};

struct lookup_renewals {
	const char *command; /* for sh; NULL: none */
	struct lookup_renewal servers[DART_TEA_SERVERS_MAX]; /* by number in the switch */
	pid_t running; /* the command, 0: none */
	struct in_addr server; /* of the running command */
	uint64_t count; /* commands that succeeded */
};

/*
 * Takes what one look found: is the server silent?  Returns whether its queue pair is to be renewed
 * now: when it has been silent for 400 ms, and again after pauses of 1 s, 2 s and so on up to
 * 30 s, because a server that is down is silent, too.
 */
bool lookup_renewal__is_due(struct lookup_renewal *renewal, bool is_silent, int64_t now);

/*
 * Looks at all servers of the switch, and runs the command if one is due; one command at a time.
 * The environment of the command names the table, the address of the switch, and the address of
 * the server: DART_TABLE, DART_REQUESTER, DART_SERVER.  Prints how each command ends.  Returns 0,
 * or -errno with a sentence in @error.
 */
int lookup_renewals__look(struct lookup_renewals *renewals, struct thrift *thrift,
			  const struct dart_tea_tables *tables, int64_t now,
			  struct dart_error *error);

/*
 * Starts the command for the server at this address; lookup_renewals__reap() waits for its end.
 * Returns 0, or -errno with a sentence in @error.
 */
int lookup_renewals__start(struct lookup_renewals *renewals, const struct dart_tea_tables *tables,
			   struct in_addr server, struct dart_error *error);

/*
 * Prints how the command ended, if it has.  Returns 0, -EAGAIN while it runs, or -EIO with a
 * sentence in @error if it failed.
 */
int lookup_renewals__reap(struct lookup_renewals *renewals, struct dart_error *error);

#endif /* LOOKUP_RENEWALS_H */
