// SPDX-License-Identifier: GPL-2.0-only
/* Counts the entries of each schema of a user: see schema_shares.h. */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "schema_shares.h"

struct schema_share {
	uid_t uid;
	uint64_t hash; /* of the schema */
	uint32_t charge;
	uint32_t entries; /* of the user, with this schema */
	struct quota_user *quota_user;
};

void schema_shares__open(struct schema_shares *shares)
{
	*shares = (struct schema_shares){};
	/* Without random numbers, a user needs two schemas with the same hash to get more. */
	if (getrandom(&shares->seed, sizeof(shares->seed), 0) < 0)
		shares->seed = (uintptr_t)shares;
}

static int compare(const void *left, const void *right)
{
	const struct schema_share *a = left, *b = right;

	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return (a->hash > b->hash) - (a->hash < b->hash);
}

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return XXH64(text, strlen(text) + 1, seed);
}

static uint64_t hash_schema(const struct dart_schema *schema, uint64_t seed)
{
	uint64_t hash = hash_text(schema->name, seed ^ schema->length);
	const struct dart_field *field = schema->fields;
	uint32_t i;

	for (i = 0; i < schema->field_count; i++, field++) {
		const uint32_t numbers[] = {
			field->offset, field->width, field->count, field->kind, field->is_signed,
			field->lags,
		};

		hash = XXH64(numbers, sizeof(numbers), hash);
		hash = hash_text(field->name, hash);
		hash = hash_text(field->unit, hash);
	}
	return hash;
}

static uint32_t charge_of(const struct dart_schema *schema)
{
	uint64_t bytes = sizeof(struct dart_control_schema) + strlen(schema->name) + 1;
	uint32_t i;

	for (i = 0; i < schema->field_count; i++)
		bytes += sizeof(struct dart_control_field) + strlen(schema->fields[i].name) + 1 +
			 strlen(schema->fields[i].unit) + 1;
	return bytes / SCHEMA_SHARE_BYTES;
}

static struct schema_share *find(const struct schema_shares *shares, const struct schema_share *key)
{
	struct schema_share *const *found = tfind(key, &shares->root, compare);

	return found ? *found : NULL;
}

uint32_t schema_shares__charge_of(const struct schema_shares *shares, uid_t uid,
				  const struct dart_schema *schema)
{
	const uint32_t charge = uid ? charge_of(schema) : 0;
	const struct schema_share key = {
		.uid = uid,
		.hash = charge ? hash_schema(schema, shares->seed) : 0,
	};

	return charge && !find(shares, &key) ? charge : 0;
}

struct schema_share *schema_shares__take(struct schema_shares *shares, struct quotas *quotas,
					 uid_t uid, const struct dart_schema *schema)
{
	const uint32_t charge = uid ? charge_of(schema) : 0;
	struct schema_share key = { .uid = uid, .charge = charge }, *share;

	if (!charge)
		return NULL;
	key.hash = hash_schema(schema, shares->seed);
	share = find(shares, &key);
	if (!share) {
		share = malloc(sizeof(*share));
		if (!share)
			return NULL;
		*share = key;
		if (!tsearch(share, &shares->root, compare)) {
			free(share);
			return NULL;
		}
		share->quota_user = quotas__charge(quotas, uid, charge, 0);
	}
	share->entries++;
	return share;
}

void schema_shares__give(struct schema_shares *shares, struct quotas *quotas,
			 struct schema_share *share)
{
	if (!share || --share->entries)
		return;
	tdelete(share, &shares->root, compare);
	quotas__release(quotas, share->quota_user, share->charge, 0);
	free(share);
}
