// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/base/log.h"
#include "entry_json.h"
#include "registry_requests.h"

static int unpack(const struct request *request, json_t *object,
		  struct selector_choice *said, const struct source **source,
		  struct dart_error *error)
{
	const char *type;
	const char *name;
	int ret;

	*said = (struct selector_choice){ .fd = request->fd };
	ret = request__unpack(object, error, "{s:s, s:s, s?s, s?s, s?s, s?s !}",
			      "request", &type, "source", &name, "netns",
			      &said->netns, "netdev", &said->netdev, "disk",
			      &said->disk, "cgroup", &said->cgroup);
	if (ret)
		return ret;
	if (request->uid)
		return dart_error__set(
			error, EPERM,
			"only root may register a source of the kernel");
	*source = source__find(name);
	if (!*source)
		return dart_error__set(
			error, EINVAL,
			"there is no source '%s' (see dartctl(1))", name);
	return 0;
}

int request__register_source(struct agent *agent, const struct request *request,
			     json_t *object, json_t **result,
			     struct dart_error *error)
{
	const struct source *source;
	struct selector selector;
	struct entry *entry;
	struct selector_choice said;
	int ret;

	ret = unpack(request, object, &said, &source, error);
	if (!ret)
		ret = selector__choose(&selector, source, &said, error);
	if (ret)
		return ret;

	ret = registry__add_source(&agent->registry, &selector, NULL, &entry,
				   error);
	selector__close(&selector);
	if (ret)
		return ret;
	entry->owner = request->uid;
	log__info("registered source %s", entry->name);
	*result = describe__entry(agent, entry);
	return 0;
}

int request__follow_source(struct agent *agent, const struct request *request,
			   json_t *object, json_t **result,
			   struct dart_error *error)
{
	const struct source *source;
	struct follower *follower;
	struct selector_choice said;
	int ret;

	ret = unpack(request, object, &said, &source, error);
	if (ret)
		return ret;
	if (said.netns || said.netdev || said.disk)
		return dart_error__set(
			error, EINVAL,
			"all network namespaces or the cgroups of a subtree are followed");

	switch (source->selector) {
	case SOURCE_SELECTOR_NETNS:
		if (said.cgroup || request->fd >= 0)
			return dart_error__set(error, EINVAL,
					       "%s is not of a cgroup",
					       source->name);
		ret = followers__add_namespaces(&agent->followers, source,
						&follower, error);
		break;
	case SOURCE_SELECTOR_CGROUP:
		ret = selector__check(source, &said, error);
		if (!ret)
			ret = followers__add_cgroups(&agent->followers, source,
						     request->fd, said.cgroup,
						     &follower, error);
		break;
	default:
		return dart_error__set(
			error, EINVAL,
			"%s is neither of network namespaces nor of cgroups: it cannot be followed",
			source->name);
	}
	if (ret)
		return ret;
	log__info("following %s", follower->name);
	*result = describe__follow(follower);
	return 0;
}

int request__unfollow(struct agent *agent, const struct request *request,
		      struct follower *follower, json_t **result,
		      struct dart_error *error)
{
	json_t *described;
	int ret;

	if (request->uid)
		return dart_error__set(
			error, EPERM,
			"'%s' is another user's (ask who registered it, or root)",
			follower->name);
	described = describe__follow(follower);
	log__info("unregistering %s", follower->name);
	ret = followers__remove(&agent->followers, follower, error);
	if (ret)
		json_decref(described);
	else
		*result = described;
	return ret;
}
