// SPDX-License-Identifier: GPL-2.0-only
/* The request to follow a source. */
#include "agent/base/log.h"
#include "cgroups.h"
#include "namespaces.h"

static int follow_source(struct request *request)
{
	struct selector_choice choice;
	const struct source *source;
	struct follower *follower;
	int ret;

	ret = selector__unpack(request, &source, &choice) ?:
		      selector__check_follow(source, &choice, &request->error);
	if (!ret && source->selector == SOURCE_SELECTOR_NETNS)
		ret = namespaces__follow(request->subject, source,
					 choice.gather_ms, &follower,
					 &request->error);
	else if (!ret)
		ret = cgroups__follow(request->subject, source,
				      choice.gather_ms, choice.fd,
				      choice.cgroup, &follower,
				      &request->error);
	if (ret)
		return ret;
	log__info("following %s", follower->group.name);
	changes__announce(follower->followers->changes, "added", "follower",
			  follower->group.name);
	request->result =
		follower->group.operations->describe(&follower->group);
	return 0;
}

const struct request_type follow_requests[] = {
	{ "follow-source", "follow", follow_source,
	  .only_root = "register a source of the kernel",
	  .fd = REQUEST_FD_OPTIONAL, .keeps = "follower" },
	{ }
};
