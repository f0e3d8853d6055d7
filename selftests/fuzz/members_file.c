// SPDX-License-Identifier: GPL-2.0-only
/* The list of members that another program writes, JSON. */
#include "tools/controller/discovery/members_file.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct member_set members = {};
	struct dart_error error;

	if (!members_file__parse(data, size, &members, &error))
		require(member_set__count(&members));
	else
		require(*error.text && !member_set__count(&members));
	return 0;
}
