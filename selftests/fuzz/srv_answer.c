// SPDX-License-Identifier: GPL-2.0-only
/* Answers of name servers. */
#include "tools/controller/discovery/srv_answer.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct target_defaults defaults = { .interval_ns = 1000000000 };
	uint8_t *message = exact_copy(data, size);
	struct target_faults faults = {};
	struct target_list list = {};
	struct dart_error error = {};
	uint32_t ttl_s;
	size_t i;

	if (srv_answer__parse(message, size, &defaults, NULL, &list, &ttl_s, &faults, &error))
		require_sentence(&error);
	for (i = 0; i < target_faults__named(&faults); i++)
		require_sentence(&faults.first[i]);
	for (i = 0; i < list.count; i++)
		require(*list.items[i]->settings.host && list.items[i]->settings.port);
	target_list__clear(&list);
	free(message);
	return 0;
}
