// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the summaries of a controller. */
#include <errno.h>

#include "farm_sums.h"

int farm_sums__add(struct farm_sums *sums, const json_t *summary)
{
	const struct {
		const char *name;
		uint64_t *sum;
	} members[] = {
		{ "scrapes", &sums->scrapes },
		{ "failed", &sums->failed },
		{ "missed", &sums->missed },
		{ "discarded", &sums->discarded },
		{ "dropped", &sums->dropped },
	};
	const json_t *number;
	size_t i;

	sums->hosts++;
	for (i = 0; i < sizeof(members) / sizeof(*members); i++) {
		number = json_object_get(summary, members[i].name);
		if (!json_is_integer(number))
			return -EBADMSG;
		*members[i].sum += json_integer_value(number);
	}
	return 0;
}

json_t *farm_sums__to_json(const struct farm_sums *sums)
{
	return json_pack("{sI sI sI sI sI sI}", "hosts", (json_int_t)sums->hosts, "scrapes",
			 (json_int_t)sums->scrapes, "failed", (json_int_t)sums->failed, "missed",
			 (json_int_t)sums->missed, "discarded", (json_int_t)sums->discarded,
			 "dropped", (json_int_t)sums->dropped);
}
