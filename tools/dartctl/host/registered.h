/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares items of a configuration with the registrations in dartd. */
#ifndef REGISTERED_H
#define REGISTERED_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/configuration/configuration.h>

/*
 * Is the item among @registrations, an array of "registration-list"?  A registration whose object
 * is missing does not count, because it is worth another attempt.
 */
bool registered__has(const json_t *registrations, const struct dart_configuration_item *item);

/* Writes the item for people: "source snmp:tcp, netns blue". */
void registered__describe(const struct dart_configuration_item *item, char *text, size_t size);

#endif /* REGISTERED_H */
