// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/base/log.h"
#include "entry_json.h"
#include "registry_requests.h"

/* What a request says of the selector; NULL for what it does not say. */
struct said {
	const char *source;
	const char *netns;
	const char *netdev;
	const char *disk;
	const char *cgroup;
};

static int unpack(const struct request *request, json_t *object,
		  struct said *said, const struct source **source,
		  struct dart_error *error)
{
	const char *type;
	int ret;

	*said = (struct said){ };
	ret = request__unpack(object, error, "{s:s, s:s, s?s, s?s, s?s, s?s !}",
			      "request", &type, "source", &said->source,
			      "netns", &said->netns, "netdev", &said->netdev,
			      "disk", &said->disk, "cgroup", &said->cgroup);
	if (ret)
		return ret;
	if (request->uid)
		return dart_error__set(
			error, EPERM,
			"only root may register a source of the kernel");
	*source = source__find(said->source);
	if (!*source)
		return dart_error__set(
			error, EINVAL,
			"there is no source '%s' (see dartctl(1))",
			said->source);
	return 0;
}

/* Does the request say what selects one of the source, and nothing else? */
static int check_selector(const struct source *source, const struct said *said,
			  int fd, struct dart_error *error)
{
	enum source_selector selector = source__selector(source);
	bool is_in_netns = selector == SOURCE_SELECTOR_NETNS ||
			   selector == SOURCE_SELECTOR_NETDEV;
	bool wants_fd = said->netns || said->disk || said->cgroup;

	if (said->netns && !is_in_netns)
		return dart_error__set(error, EINVAL,
				       "%s is not of a network namespace",
				       source->name);
	if (!said->netdev != (selector != SOURCE_SELECTOR_NETDEV))
		return dart_error__set(
			error, EINVAL,
			said->netdev ? "%s is not of a network device" :
				       "%s is of a network device: say which",
			source->name);
	if (!said->disk != (selector != SOURCE_SELECTOR_DISK))
		return dart_error__set(error, EINVAL,
				       said->disk ?
					       "%s is not of a disk" :
					       "%s is of a disk: say which",
				       source->name);
	if (!said->cgroup != (selector != SOURCE_SELECTOR_CGROUP))
		return dart_error__set(error, EINVAL,
				       said->cgroup ?
					       "%s is not of a cgroup" :
					       "%s is of a cgroup: say which",
				       source->name);
	if (wants_fd != (fd >= 0))
		return dart_error__set(
			error, EINVAL,
			wants_fd ?
				"the file descriptor of what selects is missing" :
				"a file descriptor too many");
	return 0;
}

static int check_cgroup_path(const char *path, struct dart_error *error)
{
	size_t length = strlen(path);

	if (*path != '/' || strstr(path, "//") ||
	    (length > 1 && path[length - 1] == '/'))
		return dart_error__set(
			error, EINVAL,
			"'%s' is not the path of a cgroup from the root of the hierarchy",
			path);
	return 0;
}

static int select_one(struct selector *selector, const struct source *source,
		      const struct said *said, int fd, struct dart_error *error)
{
	int ret = check_selector(source, said, fd, error);

	if (!ret && said->cgroup)
		ret = check_cgroup_path(said->cgroup, error);
	if (ret)
		return ret;

	switch (source__selector(source)) {
	case SOURCE_SELECTOR_NETNS:
	case SOURCE_SELECTOR_NETDEV:
		return selector__netns(selector, source, fd, said->netns,
				       said->netdev, error);
	case SOURCE_SELECTOR_DISK:
		return selector__disk(selector, source, fd, said->disk, error);
	case SOURCE_SELECTOR_CGROUP:
		return selector__cgroup(selector, source, fd, said->cgroup,
					error);
	default:
		return selector__none(selector, source, error);
	}
}

int request__register_source(struct agent *agent, const struct request *request,
			     json_t *object, json_t **result,
			     struct dart_error *error)
{
	const struct source *source;
	struct selector selector;
	struct entry *entry;
	struct said said;
	int ret;

	ret = unpack(request, object, &said, &source, error);
	if (!ret)
		ret = select_one(&selector, source, &said, request->fd, error);
	if (ret)
		return ret;

	ret = registry__add_source(&agent->registry, &selector, &entry, error);
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
	struct said said;
	int ret;

	ret = unpack(request, object, &said, &source, error);
	if (ret)
		return ret;
	if (said.netns || said.netdev || said.disk)
		return dart_error__set(
			error, EINVAL,
			"all network namespaces or the cgroups of a subtree are followed");

	switch (source__selector(source)) {
	case SOURCE_SELECTOR_NETNS:
		if (said.cgroup || request->fd >= 0)
			return dart_error__set(error, EINVAL,
					       "%s is not of a cgroup",
					       source->name);
		ret = followers__add_namespaces(&agent->followers, source,
						&follower, error);
		break;
	case SOURCE_SELECTOR_CGROUP:
		ret = check_selector(source, &said, request->fd, error);
		if (!ret)
			ret = check_cgroup_path(said.cgroup, error);
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
