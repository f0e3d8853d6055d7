// SPDX-License-Identifier: GPL-2.0-only
/* Files of lookup tables, JSON. */
#include <libdart/tea/tea_tables.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = file_of(data, size);
	struct in_addr any = { .s_addr = INADDR_ANY };
	struct dart_tea_tables tables;
	struct dart_error error = {};
	uint32_t i;

	if (dart_tea_tables__load(&path, 1, any, &tables, &error)) {
		require_sentence(&error);
		return 0;
	}
	require(tables.server_count && tables.server_count <= DART_TEA_SERVERS_MAX);
	require(!dart_tea_geometry__check(&tables.geometry));
	for (i = 0; i < DART_TEA_SHARES; i++) {
		require(tables.shares[i] == DART_TEA_SERVER_NONE ||
			tables.shares[i] < tables.server_count);
		require(tables.replicas[i] == DART_TEA_SERVER_NONE ||
			tables.replicas[i] < tables.server_count);
	}
	for (i = 1; i < tables.stashed_count; i++)
		require(memcmp(tables.stashed[i - 1].key, tables.stashed[i].key,
			       DART_TEA_KEY_MAX) < 0);
	dart_tea_tables__free(&tables);
	return 0;
}
