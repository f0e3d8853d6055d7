// SPDX-License-Identifier: GPL-2.0-only
/* The list of members that another program writes, JSON. */
#include "tools/controller/discovery/members_file.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct member_list members = {};
	struct dart_error error;

	if (!members_file__parse(data, size, "", 1000000000, &members, &error))
		require(member_set__count(&members.present));
	else
		require(*error.text && !member_set__count(&members.present));
	return 0;
}
