/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Controllers that share targets out between them, without talking to each other: rendezvous
 * hashing (Thaler and Ravishankar, IEEE/ACM Transactions on Networking 6(1), 1998).
 *
 * Each of the members 1 to N gives each target a score, which depends on the member and on the name
 * of the target alone: XXH3 of 64 bits, with the number of the member as its seed, over the bytes
 * of HOST:PORT.  The members in the order of their scores, highest first, are the order of the
 * target.  The first of them scrapes it; members 2 to R stand by: they are connected, READ the
 * target now and then, and pass nothing to outputs.  If a member is added, it takes its part of the
 * targets from all others, and no target moves between these.
 *
 * All controllers compute this, also of different versions: the function must not change.
 */
#ifndef CONTROLLER_SHARD_H
#define CONTROLLER_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#define SHARD_MEMBERS_MAX 1024U
/* How often a member READs a target for which it stands by. */
#define SHARD_STANDBY_DEFAULT_NS 60000000000ULL

struct shard {
	unsigned int member; /* this controller, from 1; 0: it scrapes all targets */
	unsigned int members; /* number of controllers; 0: not set */
	/* Members that scrape a target or stand by for it; 0: not set, so one */
	unsigned int replication;
	uint64_t standby_ns; /* between two READs of a member that stands by; 0: not set */
};

/* The targets of all sources, by what a member does with them. */
struct shard_parts {
	size_t own; /* it scrapes these */
	size_t standby; /* it stands by for these */
	size_t left; /* only others connect to these */
};

/* Returns 0, or -EINVAL with a sentence in @error if a number is missing or beyond another one. */
int shard__check(const struct shard *shard, struct dart_error *error);

/* How many members come before @member in the order of the target @name. */
unsigned int shard__rank(const struct shard *shard, const char *name, unsigned int member);
/* Sets order[rank] to the member of this rank, for each rank below the number of members. */
void shard__order(const struct shard *shard, const char *name,
		  unsigned int order[static SHARD_MEMBERS_MAX]);
/*
 * Is @member one of the first @replication members of the target @name (0: the first one)?  Each
 * member is, if their number is not set.
 */
bool shard__has(const struct shard *shard, const char *name, unsigned int member);
/* The time between two READs by members that stand by, with the default. */
uint64_t shard__standby_ns(const struct shard *shard);

#endif /* CONTROLLER_SHARD_H */
