// SPDX-License-Identifier: GPL-2.0-only
/* Takes a key from the command line: see key_options.h. */
#include <stdio.h>
#include <stdlib.h>

#include "key_options.h"
#include "message.h"
#include "schemas.h"

int key_options__take_operand(struct options *options, int *argc, char ***argv)
{
	optind = 0;
	if (options__take_in_front(options, *argc, *argv))
		return EXIT_USAGE;
	*argc -= optind;
	*argv += optind;
	return EXIT_SUCCESS;
}

int key_options__refuse(const char *command, const char *object)
{
	char *names = schemas__names();
	int status;

	status = misuse("'%s %s' needs a schema, one of: %s", command, object, names ? names : "?");
	free(names);
	return status;
}

void key_options__rows(const struct dart_key_schema *schema, size_t offset,
		       struct option_row rows[DART_KEY_FIELDS_MAX])
{
	const struct dart_key_fields *fields = &schema->key;
	uint32_t i;

	for (i = 0; i < fields->count; i++)
		rows[i] = (struct option_row){
			.name = fields->list[i].name,
			.offset = offset + i * sizeof(const char *),
		};
}

/* "--src ADDRESS --sport U16 ..." */
static void describe_key(const struct dart_key_fields *fields, char *text, size_t size)
{
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < fields->count && used < size; i++)
		used += snprintf(text + used, size - used, " --%s %s", fields->list[i].name,
				 fields->list[i].type->name);
}

int key_options__make(const struct dart_key_schema *schema, const char *schema_name,
		      const char *const *texts, uint8_t key[DART_STORE_KEY_MAX], int *length)
{
	const struct dart_key_fields *fields = &schema->key;
	char all[DART_KEY_FIELDS_MAX * (DART_KEY_NAME_MAX + 16)];
	struct dart_error error;
	uint32_t i;

	for (i = 0; i < fields->count; i++) {
		if (texts[i])
			continue;
		describe_key(fields, all, sizeof(all));
		return misuse("'--%s' is missing: a key of '%s' is%s", fields->list[i].name,
			      schema_name, all);
	}
	*length = dart_key_schema__key(schema, texts, key, &error);
	if (*length < 0)
		return misuse("--%s", error.text);
	return EXIT_SUCCESS;
}
