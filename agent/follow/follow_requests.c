// SPDX-License-Identifier: GPL-2.0-only
/* The requests to follow a source, and to register a whole host. */
#include "agent/base/log.h"
#include "kinds.h"
#include "whole_host.h"

static int follow_source(struct request *request)
{
	struct selector_choice choice;
	const struct source *source;
	struct follower *follower;
	int ret;

	ret = selector__unpack(request, &source, &choice) ?:
		      selector__check_follow(source, &choice, &request->error) ?:
		      followers__follow(request->subject, source, &choice,
					&follower, &request->error);
	if (ret)
		return ret;
	log__info("following %s", follower->group.name);
	changes__announce(follower->followers->changes, "added", "follower", follower->group.name);
	request->result = follower->group.operations->describe(&follower->group);
	return 0;
}

static int register_host(struct request *request)
{
	struct followers *followers = request->subject;
	struct entry_group *group;
	struct selector_choice gathering = { .fd = -1 };
	const char *gather;
	int is_deferrable = false;
	int ret;

	ret = request__unpack(request, "{s:s, s?b !}", "gather", &gather,
			      "deferrable", &is_deferrable);
	gathering.is_deferrable = is_deferrable;
	ret = ret ?:
		      selector__parse_interval(gather, &gathering.gather_ms, &request->error) ?:
		      whole_host__register(followers, &gathering, &group, &request->error);
	if (ret)
		return ret;
	log__info("registered the whole host, gathered every %s%s", gather,
		  is_deferrable ? ", deferrable" : "");
	changes__announce(followers->changes, "added", "host", group->name);
	request->result = group->operations->describe(group);
	return 0;
}

const struct request_type follow_requests[] = {
	{ "follow-source", "follow", follow_source,
	  .only_root = "register a source of the kernel",
	  .fd = REQUEST_FD_OPTIONAL, .keeps = "follower" },
	{ "register-host", "host", register_host,
	  .only_root = "register sources of the kernel", .keeps = "host" },
	{ }
};
