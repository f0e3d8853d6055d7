// SPDX-License-Identifier: GPL-2.0-only
/* Counts the entries of each user in the table and on lease. */
#include <errno.h>
#include <stdlib.h>

#include "quota.h"

/* Unless the configuration sets other numbers: less than half of the table. */
#define ENTRIES_MAX 4096
#define MIB_MAX 32

void quotas__open(struct quotas *quotas)
{
	*quotas = (struct quotas){ .remedy = "unregister some" };
	SLIST_INIT(&quotas->users);
	quotas__limit(quotas, 0, 0);
}

void quotas__limit(struct quotas *quotas, uint32_t entries, uint32_t mib)
{
	quotas->entries_most = entries ?: ENTRIES_MAX;
	quotas->bytes_most = (uint64_t)(mib ?: MIB_MAX) << 20;
}

void quotas__close(struct quotas *quotas)
{
	struct quota_user *user;

	while ((user = SLIST_FIRST(&quotas->users))) {
		SLIST_REMOVE_HEAD(&quotas->users, link);
		free(user);
	}
}

static struct quota_user *quotas__find(const struct quotas *quotas, uid_t uid)
{
	struct quota_user *user;

	SLIST_FOREACH(user, &quotas->users, link)
		if (user->uid == uid)
			return user;
	return NULL;
}

int quotas__check(const struct quotas *quotas, uid_t uid, uint32_t entries, uint64_t bytes,
		  struct dart_error *error)
{
	const struct quota_user *user = quotas__find(quotas, uid);
	const uint32_t had = user ? user->entries : 0;

	if (!uid)
		return 0;
	if (had >= quotas->entries_most)
		return dart_error__set(
			error, EDQUOT,
			"user %u has %u entries, as many as the configuration allows (%s, or raise 'entries_per_user' in its limits)",
			uid, had, quotas->remedy);
	if (entries > quotas->entries_most - had)
		return dart_error__set(
			error, EDQUOT,
			"user %u has %u entries, and this one counts as %u, for each memory region and for the size of its schema: more than the configuration allows (%s, or raise 'entries_per_user' in its limits)",
			uid, had, entries, quotas->remedy);
	if (quotas->total_most && quotas->total + entries > quotas->total_most)
		return dart_error__set(
			error, EDQUOT,
			"all users but root have %llu entries, as many as there is room for beside those of root (%s)",
			(unsigned long long)quotas->total, quotas->remedy);
	if ((user ? user->bytes : 0) + bytes > quotas->bytes_most)
		return dart_error__set(
			error, EDQUOT,
			"the slices of user %u would have more than the %u MiB that the configuration allows (close some, or raise 'slice_mib_per_user' in its limits)",
			uid, (uint32_t)(quotas->bytes_most >> 20));
	return 0;
}

struct quota_user *quotas__charge(struct quotas *quotas, uid_t uid, uint32_t entries,
				  uint64_t bytes)
{
	struct quota_user *user;

	if (!uid)
		return NULL;
	user = quotas__find(quotas, uid);
	if (!user) {
		user = calloc(1, sizeof(*user));
		if (!user)
			return NULL;
		user->uid = uid;
		SLIST_INSERT_HEAD(&quotas->users, user, link);
	}
	user->entries += entries;
	user->bytes += bytes;
	quotas->total += entries;
	return user;
}

void quotas__release(struct quotas *quotas, struct quota_user *user, uint32_t entries,
		     uint64_t bytes)
{
	if (!user)
		return;
	user->entries -= entries;
	user->bytes -= bytes;
	quotas->total -= entries;
	if (user->entries || user->bytes)
		return;
	SLIST_REMOVE(&quotas->users, user, quota_user, link);
	free(user);
}
