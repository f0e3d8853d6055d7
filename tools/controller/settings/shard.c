// SPDX-License-Identifier: GPL-2.0-only
/* Computes the order of members for a target: see shard.h. */
#include "shard.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

int shard__check(const struct shard *shard, struct dart_error *error)
{
	if (!shard->member && !shard->members && !shard->replication && !shard->standby_ns)
		return 0;
	if (!shard->members)
		return dart_error__set(error, EINVAL,
				       "a shard needs 'members', the number of controllers");
	if (!shard->member)
		return dart_error__set(
			error, EINVAL,
			"a shard needs 'member', the number of this controller from 1 to %u, or --shard-member",
			shard->members);
	if (shard->member > shard->members)
		return dart_error__set(error, EINVAL,
				       "there is no member %u of %u (members count from 1)",
				       shard->member, shard->members);
	if (shard->replication > shard->members)
		return dart_error__set(error, EINVAL,
				       "%u members are too few for each agent to have %u: lower 'replication'",
				       shard->members, shard->replication);
	return 0;
}

unsigned int shard__rank(const struct shard *shard, const char *name, unsigned int member)
{
	const size_t length = strlen(name);
	const uint64_t own = XXH3_64bits_withSeed(name, length, member);
	unsigned int other, rank = 0;
	uint64_t score;

	for (other = 1; other <= shard->members; other++) {
		score = XXH3_64bits_withSeed(name, length, other);
		rank += score > own || (score == own && other < member);
	}
	return rank;
}

void shard__order(const struct shard *shard, const char *name,
		  unsigned int order[static SHARD_MEMBERS_MAX])
{
	unsigned int member;

	for (member = 1; member <= shard->members; member++)
		order[shard__rank(shard, name, member)] = member;
}

bool shard__has(const struct shard *shard, const char *name, unsigned int member)
{
	const unsigned int replication = shard->replication ? shard->replication : 1;

	return !shard->members || shard__rank(shard, name, member) < replication;
}

uint64_t shard__standby_ns(const struct shard *shard)
{
	return shard->standby_ns ?: SHARD_STANDBY_DEFAULT_NS;
}
