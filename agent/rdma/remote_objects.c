// SPDX-License-Identifier: GPL-2.0-only
/* Names, counts and changes of the objects whose memory peers reach. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "agent/base/entry_name.h"
#include "remote_objects.h"

int remote_objects__check_name(const struct remote_objects *objects, const char *name,
			       bool is_taken, struct dart_error *error)
{
	int ret = entry_name__check(name, error);

	if (ret)
		return ret;
	if (!objects->device->context)
		return dart_error__set(error, ENODEV, "%ss need an RDMA device, and %s",
				       objects->kept.noun,
				       device__is_wanted(objects->device) ?
					       "it is not there now" :
					       "the configuration turns RDMA off");
	if (strlen(name) >= REMOTE_OBJECT_NAME_MAX)
		return dart_error__set(error, ENAMETOOLONG,
				       "the name of a %s has at most %d characters",
				       objects->kept.noun, REMOTE_OBJECT_NAME_MAX - 1);
	if (is_taken)
		return dart_error__set(error, EEXIST, "the %s '%s' already exists",
				       objects->kept.noun, name);
	return 0;
}

int remote_objects__check_asked(const struct remote_objects *objects,
				const char *name, struct dart_error *error)
{
	size_t length = strnlen(name, REMOTE_OBJECT_NAME_MAX);
	size_t i;

	if (length == REMOTE_OBJECT_NAME_MAX)
		return dart_error__set(error, EPROTO, "its request does not name a %s",
				       objects->kept.noun);
	for (i = length; i < REMOTE_OBJECT_NAME_MAX; i++)
		if (name[i])
			return dart_error__set(error, EPROTO,
					       "its request has data behind the name");
	return 0;
}

void remote_objects__count(const struct remote_objects *objects, uint64_t length, int more)
{
	count__add(&objects->counts->regions, more);
	count__add(&objects->counts->bytes, more * (int64_t)length);
}

void remote_objects__announce_peer(const struct remote_objects *objects, const char *event,
				   const char *kind, struct in_addr address, const char *object)
{
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &address, text, sizeof(text));
	changes__announce_in(objects->changes, event, kind, text, objects->kept.noun, object);
}
