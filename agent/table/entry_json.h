/* SPDX-License-Identifier: GPL-2.0-only */
/* The agent's things as JSON: new references, NULL if memory is short. */
#ifndef ENTRY_JSON_H
#define ENTRY_JSON_H

#include <jansson.h>

#include "agent/agent.h"
#include <libdart/error.h>

/*
 * {"name", "kind", "copies", "copies_are", "length", "fields",
 * "memory_regions", "bytes"}, and "map_id" for a map.
 */
json_t *describe__entry(const struct agent *agent, const struct entry *entry);
/* {"name", "kind": "follow", "entries", "failures"} */
json_t *describe__follow(const struct follower *follower);
/* The entries, then the follows. */
json_t *describe__entries(const struct agent *agent);
/* {"name", "values", "schema"}: what the bytes say now. */
int describe__values(const struct agent *agent, const struct entry *entry,
		     json_t **values, struct dart_error *error);
json_t *describe__status(const struct agent *agent);

#endif /* ENTRY_JSON_H */
