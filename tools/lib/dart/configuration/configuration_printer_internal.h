/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Printing registrations as a configuration file; private to the configuration. */
#ifndef DART_CONFIGURATION_PRINTER_H
#define DART_CONFIGURATION_PRINTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* The request of a registration, and a text in it; NULL if there is none. */
const json_t *dart_configuration__request_of(const json_t *registration);
const char *dart_configuration__text_of(const json_t *request,
					const char *member);

void dart_configuration__print_text(FILE *file, const char *text);
/* "KEY: TEXT" of an item; a @text of NULL is left out. */
void dart_configuration__print_member(FILE *file, bool *is_first,
				      const char *key, const char *text);

/* An item of a list, and behind it what belongs to it, out of all @registrations. */
void dart_configuration__print_store(FILE *file, const json_t *registrations,
				     const json_t *registration);
void dart_configuration__print_table(FILE *file, const json_t *registrations,
				     const json_t *registration);

#endif /* DART_CONFIGURATION_PRINTER_H */
