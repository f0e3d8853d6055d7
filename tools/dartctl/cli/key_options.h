/* SPDX-License-Identifier: GPL-2.0-only */
/* A key on the command line: "OBJECT SCHEMA --FIELD VALUE ...", with the fields of the schema. */
#ifndef KEY_OPTIONS_H
#define KEY_OPTIONS_H

#include <libdart/key/key_schema.h>

#include "options.h"

/*
 * Takes common options up to the next operand, which becomes argv[0]; *@argc is 0 if there is none.
 * Returns EXIT_SUCCESS or EXIT_USAGE.
 */
int key_options__take_operand(struct options *options, int *argc, char ***argv);
/* Says that "@command OBJECT" needs a schema, and which ones there are.  Returns EXIT_USAGE. */
int key_options__refuse(const char *command, const char *object);

/*
 * Fills a row for each field of the key, which sets an element of an array of texts at @offset in
 * the object of options__take().
 */
void key_options__rows(const struct dart_key_schema *schema, size_t offset,
		       struct option_row rows[DART_KEY_FIELDS_MAX]);
/*
 * Makes the key of @texts, which has *@length bytes.  Returns EXIT_SUCCESS, or EXIT_USAGE after a
 * message about a field that is missing or wrong.
 */
int key_options__make(const struct dart_key_schema *schema, const char *schema_name,
		      const char *const *texts, uint8_t key[DART_STORE_KEY_MAX], int *length);

#endif /* KEY_OPTIONS_H */
