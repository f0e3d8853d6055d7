/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares items of a configuration with the registrations in dartd. */
#ifndef REGISTERED_H
#define REGISTERED_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/configuration/configuration.h>

/*
 * Makes an index of @registrations, an array of "registration-list", for a comparison with many
 * items.  Returns a new reference; NULL without memory.
 */
json_t *registered__index(const json_t *registrations);

/*
 * Is the item in an index?  A registration whose object is missing does not count, because it is
 * worth another attempt.  Returns 1, 0, or -ENOMEM.
 */
int registered__has(const json_t *registered, const struct dart_configuration_item *item);

/* Writes the item for people: "source snmp:tcp, netns blue". */
void registered__describe(const struct dart_configuration_item *item, char *text, size_t size);

#endif /* REGISTERED_H */
