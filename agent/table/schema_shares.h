/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the schemas of users take in the table, which has equal schemas once: each schema of a user
 * counts in the user's quota as entries, as long as an entry has it.
 */
#ifndef SCHEMA_SHARES_H
#define SCHEMA_SHARES_H

#include <stdint.h>
#include <sys/types.h>

#include <libdart/table/schema.h>

#include "quota.h"

/* Bytes of the table that count as an entry; less than that is free. */
#define SCHEMA_SHARE_BYTES 384

struct schema_shares {
	uint64_t seed;	/* of hashes, so that no user finds two schemas with the same */
	void *root;	/* a tsearch() tree */
};

/* A schema of a user. */
struct schema_share;

void schema_shares__open(struct schema_shares *shares);

/* As how many entries @schema would count for @uid; 0: the user has it already. */
uint32_t schema_shares__charge_of(const struct schema_shares *shares, uid_t uid,
				  const struct dart_schema *schema);
/*
 * An entry of @uid has @schema from now on: charges it to @quotas if it is the first.  NULL: it
 * takes no share, or out of memory.
 */
struct schema_share *schema_shares__take(struct schema_shares *shares, struct quotas *quotas,
					 uid_t uid, const struct dart_schema *schema);
/* The entry has it no longer; NULL: it took no share. */
void schema_shares__give(struct schema_shares *shares, struct quotas *quotas,
			 struct schema_share *share);

#endif /* SCHEMA_SHARES_H */
