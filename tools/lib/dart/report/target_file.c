// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads and writes files with an element for each peer of a collector's memory. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target_file.h"

#define VERSION 1
#define KEY_MAX 32 /* with the NUL */

static int take_target(const struct dart_target_kind *kind, json_t *json,
		       struct dart_collector *target, struct dart_error *error)
{
	size_t others;

	memset(target, 0, kind->size);
	return dart_collector__take_path(json, target, &others, error) ?:
		       kind->take(json, others, target, error);
}

static int refuse_address(const struct dart_target_kind *kind, const char *path,
			  struct in_addr address, struct dart_error *error)
{
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &address, text, sizeof(text));
	return dart_error__set(error, ENOENT,
			       "%s: no %s takes %s from %s (dartctl %s add, then %s export)", path,
			       kind->object, kind->content,
			       address.s_addr == INADDR_ANY ? "any address" : text, kind->part,
			       kind->object);
}

/* Takes the only element for @address; @one: room for a target. */
static int take_list(const struct dart_target_kind *kind, json_t *list, const char *path,
		     struct in_addr address, struct dart_collector *one, void *target,
		     struct dart_error *error)
{
	struct dart_error reason;
	json_t *json;
	int found = 0;
	size_t i;

	json_array_foreach(list, i, json) {
		if (take_target(kind, json, one, &reason))
			return dart_error__set(error, EINVAL, "%s: %s[%zu]: %s", path,
					       kind->objects, i, reason.text);
		if (address.s_addr != INADDR_ANY && one->reporter.s_addr != address.s_addr)
			continue;
		memcpy(target, one, kind->size);
		found++;
	}
	if (!found)
		return refuse_address(kind, path, address, error);
	if (found > 1)
		return dart_error__set(error, EINVAL,
				       "%s: several %s or %ss (give the address of one)", path,
				       kind->objects, kind->part);
	return 0;
}

static int take_file(const struct dart_target_kind *kind, json_t *root, const char *path,
		     struct in_addr address, void *target, struct dart_error *error)
{
	char version_key[KEY_MAX];
	struct dart_collector *one;
	json_t *list;
	int version, ret;

	snprintf(version_key, sizeof(version_key), "dart_%s", kind->objects);
	if (json_unpack(root, "{s:i, s:o !}", version_key, &version, kind->objects, &list) ||
	    version != VERSION || !json_is_array(list))
		return dart_error__set(error, EINVAL,
				       "%s: not a file of %s, version %d (see 'dartctl %s export')",
				       path, kind->objects, VERSION, kind->object);
	one = malloc(kind->size);
	if (!one)
		return dart_error__set(error, ENOMEM, "%s", strerror(ENOMEM));
	ret = take_list(kind, list, path, address, one, target, error);
	free(one);
	return ret;
}

int dart_target_file__load(const struct dart_target_kind *kind, const char *path,
			   struct in_addr address, void *target, struct dart_error *error)
{
	json_t *root;
	int ret;

	ret = dart_collectors__read(path, &root, error);
	if (ret)
		return ret;
	ret = take_file(kind, root, path, address, target, error);
	json_decref(root);
	return ret;
}

json_t *dart_target_file__element(const struct dart_collector *collector, json_t *geometry)
{
	json_t *json = dart_collector__path_to_json(collector);

	if (json_object_update(json, geometry)) {
		json_decref(json);
		json = NULL;
	}
	json_decref(geometry);
	return json;
}
