/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of an entry, for people and programs. */
#ifndef SWITCH_ENTRY_SHOW_H
#define SWITCH_ENTRY_SHOW_H

#include <jansson.h>

#include "entry.h"

/* ": mac 52:54:00:00:00:01, ip 10.0.0.1" */
void switch_entry__print(const struct switch_table *table,
			 const struct switch_entry *entry);
/* Adds them as members to @json.  Returns 0 or -ENOMEM. */
int switch_entry__add_to(json_t *json, const struct switch_table *table,
			 const struct switch_entry *entry);

#endif /* SWITCH_ENTRY_SHOW_H */
