// SPDX-License-Identifier: GPL-2.0-only
/* Sources and selectors in requests. */
#include <errno.h>

#include "selector.h"

int selector__unpack(struct request *request, const struct source **source,
		     struct selector_choice *choice)
{
	const char *name;
	int ret;

	*choice = (struct selector_choice){ .fd = request->fd };
	ret = request__unpack(request, "{s:s, s?s, s?s, s?s, s?s !}", "source",
			      &name, "netns", &choice->netns, "netdev",
			      &choice->netdev, "disk", &choice->disk, "cgroup",
			      &choice->cgroup);
	if (ret)
		return ret;
	*source = source__find(name);
	if (*source)
		return 0;
	return dart_error__set(
		&request->error, EINVAL,
		"there is no source '%s' (dartctl source list names them)",
		name);
}

static int list_sources(struct request *request)
{
	const struct source *source;

	request->result = json_array();
	for (source = sources; source->name; source++)
		reply__append(&request->result,
			      json_pack("{s:s, s:s, s:b, s:s}", "name",
					source->name, "selector",
					selector__name(source), "follows",
					source__can_be_followed(source),
					"description", source->description));
	return 0;
}

const struct request_type selector_requests[] = {
	{ "source-list", "sources", list_sources, .member = "" },
	{ }
};
