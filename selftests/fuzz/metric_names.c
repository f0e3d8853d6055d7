// SPDX-License-Identifier: GPL-2.0-only
/* Names of metrics, YAML. */
#include "tools/controller/metrics/names/names.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = exact_copy(data, size);
	struct dart_error error = {};
	struct names *names = NULL;
	uint32_t i;

	if (names__parse(bytes, size, "names", &names, &error)) {
		require_sentence(&error);
	} else {
		for (i = 0; i < names->series_count; i++)
			require(names__of_source(names, names->series[i].source) <= i);
		names__put(names);
	}
	free(bytes);
	return 0;
}
