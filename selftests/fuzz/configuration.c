// SPDX-License-Identifier: GPL-2.0-only
/* The configuration of dartd, YAML; the settings are printed and read again. */
#include <libdart/configuration/configuration.h>

#include "fuzz.h"

/* Loaded again, the settings are printed in the same way. */
static char *print(const struct dart_configuration *configuration)
{
	size_t length;
	char *text;
	FILE *file = open_memstream(&text, &length);

	require(file);
	require(!dart_configuration__print_settings(file, configuration));
	fclose(file);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_configuration configuration;
	struct dart_error error = {};
	char *text, *again;

	if (dart_configuration__load_file(&configuration, file_of(data, size), &error)) {
		require_sentence(&error);
		return 0;
	}
	text = print(&configuration);
	dart_configuration__close(&configuration);
	require(!dart_configuration__load_file(&configuration,
					       file_of((uint8_t *)text, strlen(text)), &error));
	again = print(&configuration);
	require(!strcmp(text, again));
	dart_configuration__close(&configuration);
	free(again);
	free(text);
	return 0;
}
