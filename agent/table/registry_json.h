/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries and the registry as JSON: new references, NULL if out of memory. */
#ifndef REGISTRY_JSON_H
#define REGISTRY_JSON_H

#include <jansson.h>

#include <libdart/error.h>

#include "agent/base/reply_text.h"
#include "registry.h"

/* As "list" of <dart/registration.h> shows an entry. */
json_t *registry_json__entry(const struct entry *entry);
/* The same as text; @now: ns of CLOCK_BOOTTIME, by which ages are told. */
void registry_json__write(const struct entry *entry, int64_t now, struct reply_text *text);
/* {"name", "values", "schema"}: the bytes as they are now. */
int registry_json__values(const struct entry *entry, json_t **values, struct dart_error *error);
/* How many there are and how they are exposed: members of the agent's status. */
json_t *registry_json__status(const struct registry *registry);

#endif /* REGISTRY_JSON_H */
