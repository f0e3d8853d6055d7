/* SPDX-License-Identifier: GPL-2.0-only */
/* What dartd has done with changes of a table. */
#ifndef TEA_OUTCOME_H
#define TEA_OUTCOME_H

#include <jansson.h>
#include <stdint.h>

#include <libdart/error.h>

struct tea_outcome {
	uint64_t inserted;
	uint64_t changed; /* had another value, or the same */
	uint64_t stashed; /* of the inserted */
	uint64_t removed;
	uint64_t missing; /* were to be removed */
	uint64_t foreign; /* of the share of another server */
	uint64_t full; /* found no place */
};

/*
 * Adds the "changes" of a reply.  Returns 0, or sets @error and returns -EPROTO.
 */
int tea_outcome__add(struct tea_outcome *outcome, const json_t *changes, struct dart_error *error);
/* As an object, a new reference; NULL if out of memory. */
json_t *tea_outcome__pack(const struct tea_outcome *outcome);

#endif /* TEA_OUTCOME_H */
