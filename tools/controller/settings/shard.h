/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Controllers that share targets out between them, without talking to each other: rendezvous
 * hashing (Thaler and Ravishankar, IEEE/ACM Transactions on Networking 6(1), 1998).
 *
 * Each of the members 1 to N gives each target a score, which depends on the member and on the name
 * of the target alone: XXH3 of 64 bits, with the number of the member as its seed, over the bytes
 * of HOST:PORT.  The members in the order of their scores, highest first, are the order of the
 * target; the first R of them scrape it.  If a member is added, it takes its part of the targets
 * from all others, and no target moves between these.
 *
 * All controllers compute this, also of different versions: the function must not change.
 */
#ifndef CONTROLLER_SHARD_H
#define CONTROLLER_SHARD_H

#include <stdbool.h>

#include <libdart/error.h>

#define SHARD_MEMBERS_MAX 1024U

struct shard {
	unsigned int member; /* this controller, from 1; 0: it scrapes all targets */
	unsigned int members; /* number of controllers; 0: not set */
	unsigned int replication; /* members that scrape each target; 0: not set, so one */
};

/* Returns 0, or -EINVAL with a sentence in @error if a number is missing or beyond another one. */
int shard__check(const struct shard *shard, struct dart_error *error);

/* How many members come before @member in the order of the target @name. */
unsigned int shard__rank(const struct shard *shard, const char *name, unsigned int member);
/* Sets order[rank] to the member of this rank, for each rank below the number of members. */
void shard__order(const struct shard *shard, const char *name,
		  unsigned int order[static SHARD_MEMBERS_MAX]);
/* Does @member scrape the target @name?  Each target, if there are no members. */
bool shard__has(const struct shard *shard, const char *name, unsigned int member);

#endif /* CONTROLLER_SHARD_H */
