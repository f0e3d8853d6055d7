// SPDX-License-Identifier: GPL-2.0-only
/* The configuration file of dart-controller, YAML. */
#include "tools/controller/settings/config.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	struct settings settings = {};
	struct dart_error error = {};

	if (!file)
		return 0;
	if (config__load(&settings, file, "config", &error))
		require_sentence(&error);
	settings__clear(&settings);
	fclose(file);
	return 0;
}
