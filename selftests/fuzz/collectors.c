// SPDX-License-Identifier: GPL-2.0-only
/* Files with collectors, JSON. */
#include <libdart/report/collectors.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = file_of(data, size);
	struct in_addr any = { .s_addr = INADDR_ANY };
	struct dart_collectors collectors;
	struct dart_error error = {};
	json_t *json;
	uint32_t i;

	if (dart_collectors__load(&path, 1, any, &collectors, &error)) {
		require_sentence(&error);
		return 0;
	}
	require(collectors.count);
	for (i = 0; i < DART_STORE_SHARES; i++)
		require(collectors.shares[i] == DART_COLLECTOR_NONE ||
			collectors.shares[i] < collectors.count);
	for (i = 0; i < collectors.count; i++) {
		require(!dart_store_geometry__check(&collectors.list[i].geometry));
		json = dart_collector__to_json(&collectors.list[i]);
		require(json);
		json_decref(json);
	}
	dart_collectors__free(&collectors);
	return 0;
}
