// SPDX-License-Identifier: GPL-2.0-only
/* The members that are there, and what one of them does with a target: see shard.h. */
#include "shard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

int shard__check(const struct shard *shard, struct dart_error *error)
{
	if (!shard->member && !shard->members && !shard->replication && !shard->standby_ns &&
	    !shard->file && !shard->handover_ns)
		return 0;
	if (!shard->members && !shard->file)
		return dart_error__set(
			error, EINVAL,
			"a shard needs 'members', the number of controllers, or 'members_file'");
	if (shard->members && shard->file)
		return dart_error__set(error, EINVAL,
				       "a shard has 'members' or 'members_file', but not both");
	if (!shard->member)
		return dart_error__set(
			error, EINVAL,
			"a shard needs 'member', the number of this controller from 1 to %u, or --shard-member",
			shard->members ?: SHARD_MEMBERS_MAX);
	if (shard->file)
		return 0;
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

uint64_t shard__score(const char *name, unsigned int member)
{
	return XXH3_64bits_withSeed(name, strlen(name), member);
}

uint64_t shard__standby_ns(const struct shard *shard)
{
	return shard->standby_ns ?: SHARD_STANDBY_DEFAULT_NS;
}

/* ---- portions */

unsigned int shard__portion(const char *name)
{
	return XXH3_64bits(name, strlen(name)) % SHARD_PORTIONS;
}

bool portion_set__is_empty(const struct portion_set *set)
{
	static const struct portion_set empty;

	return !memcmp(set, &empty, sizeof(empty));
}

void portion_set__print(const struct portion_set *set, char text[static PORTION_SET_TEXT])
{
	unsigned int i;

	for (i = 0; i < SHARD_PORTIONS / 64; i++)
		snprintf(text + 16 * i, 17, "%016llx", (unsigned long long)set->bits[i]);
}

int portion_set__parse(const char *text, struct portion_set *set)
{
	char digits[17] = "";
	unsigned int i;

	if (strspn(text, "0123456789abcdef") != PORTION_SET_TEXT - 1 || text[PORTION_SET_TEXT - 1])
		return -EINVAL;
	for (i = 0; i < SHARD_PORTIONS / 64; i++) {
		memcpy(digits, text + 16 * i, 16);
		set->bits[i] = strtoull(digits, NULL, 16);
	}
	return 0;
}

/* ---- the members that are there */

unsigned int member_set__count(const struct member_set *set)
{
	unsigned int i, count = 0;

	for (i = 0; i < SHARD_MEMBERS_MAX / 64; i++)
		count += __builtin_popcountll(set->bits[i]);
	return count;
}

void membership__begin(struct membership *membership, const struct shard *shard)
{
	*membership = (struct membership){
		.shard = *shard,
		.is_listed = shard->file,
	};
}

void membership__follow(struct membership *membership, const struct shard *shard)
{
	const struct membership before = *membership;
	unsigned int member;

	membership__begin(membership, shard);
	if (!shard->file || shard->member != before.shard.member)
		return;
	membership->is_known = !before.is_listed || before.is_known;
	membership->present = before.present;
	membership->ready_ns = before.ready_ns;
	membership->valid_ns = before.valid_ns;
	membership->version = before.version;
	membership->is_agreed = before.is_agreed;
	membership->session_ns = before.session_ns;
	memcpy(membership->unreached, before.unreached, sizeof(before.unreached));
	for (member = 1; !before.is_listed && member <= before.shard.members; member++)
		member_set__add(&membership->present, member);
}

bool membership__is_valid(const struct membership *membership, uint64_t now_ns)
{
	return !membership->valid_ns || now_ns < membership->valid_ns;
}

bool membership__take(struct membership *membership, const struct member_list *list,
		      uint64_t now_ns)
{
	const struct shard *shard = &membership->shard;
	const struct membership before = *membership;
	const bool is_there = member_set__has(&list->present, shard->member);
	/* Others may have taken over from a member whose list was not valid any more. */
	const bool was_there = member_set__has(&before.present, shard->member) &&
			       membership__is_valid(&before, now_ns);

	if (is_there && !was_there)
		membership->ready_ns = now_ns + (shard->handover_ns ?: SHARD_HANDOVER_DEFAULT_NS);
	if (is_there && list->is_agreed && membership->ready_ns > now_ns)
		membership->ready_ns = now_ns;
	membership->is_known = true;
	membership->present = list->present;
	membership->valid_ns = list->valid_ns;
	membership->version = list->version;
	membership->is_agreed = list->is_agreed;
	membership->session_ns = list->session_ns;
	memcpy(membership->unreached, list->unreached, sizeof(list->unreached));
	return !before.is_known || membership->ready_ns != before.ready_ns ||
	       memcmp(&before.present, &list->present, sizeof(before.present)) ||
	       memcmp(before.unreached, list->unreached, sizeof(before.unreached)) ||
	       membership__is_valid(&before, now_ns) != membership__is_valid(membership, now_ns);
}

uint64_t membership__change_ns(const struct membership *membership, uint64_t now_ns)
{
	const uint64_t ready_ns = membership->ready_ns, valid_ns = membership->valid_ns;
	const uint64_t join_ns = ready_ns > now_ns ? ready_ns : 0;

	return valid_ns > now_ns && (!join_ns || valid_ns < join_ns) ? valid_ns : join_ns;
}

unsigned int membership__count(const struct membership *membership)
{
	return membership->is_listed ? member_set__count(&membership->present) :
				       membership->shard.members;
}

static bool membership__is_there(const struct membership *membership, unsigned int member)
{
	return membership->is_listed ? member_set__has(&membership->present, member) :
				       member && member <= membership->shard.members;
}

/* The next member that is there after the number @member; 0: there is none. */
static unsigned int membership__next(const struct membership *membership, unsigned int member)
{
	const uint64_t *bits = membership->present.bits;
	unsigned int word = member / 64;
	uint64_t rest;

	if (!membership->is_listed)
		return member < membership->shard.members ? member + 1 : 0;
	if (member >= SHARD_MEMBERS_MAX)
		return 0;
	/* Most numbers are of no member. */
	rest = bits[word] & ~0ULL << member % 64;
	while (!rest && ++word < SHARD_MEMBERS_MAX / 64)
		rest = bits[word];
	return rest ? word * 64 + __builtin_ctzll(rest) + 1 : 0;
}

unsigned int membership__rank(const struct membership *membership, const char *name,
			      unsigned int member)
{
	const uint64_t own = shard__score(name, member);
	unsigned int other = 0, rank = 0;
	uint64_t score;

	while ((other = membership__next(membership, other))) {
		score = shard__score(name, other);
		rank += other != member && (score > own || (score == own && other < member));
	}
	return rank;
}

static bool membership__lacks(const struct membership *membership, unsigned int member,
			      unsigned int portion)
{
	return member <= SHARD_UNREACHED_MEMBERS &&
	       portion_set__has(&membership->unreached[member - 1], portion);
}

unsigned int membership__place(const struct membership *membership, const char *name,
			       unsigned int member)
{
	const unsigned int portion = shard__portion(name);
	const bool lacks = membership__lacks(membership, member, portion);
	const uint64_t own = shard__score(name, member);
	unsigned int other = 0, place = 0;
	uint64_t score;

	while ((other = membership__next(membership, other))) {
		if (other == member)
			continue;
		if (membership__lacks(membership, other, portion) != lacks) {
			place += lacks;
			continue;
		}
		score = shard__score(name, other);
		place += score > own || (score == own && other < member);
	}
	return place;
}

enum shard_role membership__role(const struct membership *membership, const char *name,
				 uint64_t now_ns)
{
	const struct shard *shard = &membership->shard;
	const unsigned int replication = shard->replication ?: 1;
	unsigned int place;

	if (!membership->is_listed && !shard->members)
		return SHARD_OWN;
	if (membership->is_listed && !membership->is_known)
		return SHARD_LEFT;
	place = membership__place(membership, name, shard->member);
	if (!place && membership__is_there(membership, shard->member) &&
	    now_ns >= membership->ready_ns && membership__is_valid(membership, now_ns))
		return SHARD_OWN;
	/* One that does not reach the target tries again and again. */
	return place < replication ||
			       membership__rank(membership, name, shard->member) < replication ?
		       SHARD_STANDBY :
		       SHARD_LEFT;
}

bool membership__has(const struct membership *membership, const char *name, unsigned int member,
		     unsigned int replication)
{
	if (!membership->is_listed && !membership->shard.members)
		return true;
	return membership__is_there(membership, member) &&
	       membership__rank(membership, name, member) < (replication ?: 1);
}

unsigned int membership__order(const struct membership *membership, const char *name,
			       unsigned int order[static SHARD_MEMBERS_MAX])
{
	unsigned int member = 0, count = 0;

	while ((member = membership__next(membership, member))) {
		order[membership__place(membership, name, member)] = member;
		count++;
	}
	return count;
}
