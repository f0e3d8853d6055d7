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

static int take_element(const struct dart_target_kind *kind, json_t *list, size_t i,
			const char *path, struct dart_collector *target, struct dart_error *error)
{
	struct dart_error reason;

	if (take_target(kind, json_array_get(list, i), target, &reason))
		return dart_error__set(error, EINVAL, "%s: %s[%zu]: %s", path, kind->objects, i,
				       reason.text);
	return 0;
}

/* Takes the only element for @address; @one: room for a target. */
static int take_one(const struct dart_target_kind *kind, json_t *list, const char *path,
		    struct in_addr address, struct dart_collector *one, void *target,
		    struct dart_error *error)
{
	int found = 0, ret;
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		ret = take_element(kind, list, i, path, one, error);
		if (ret)
			return ret;
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

/* Finds the list of elements in a file. */
static int find_list(const struct dart_target_kind *kind, json_t *root, const char *path,
		     json_t **list, struct dart_error *error)
{
	char version_key[KEY_MAX];
	int version;

	snprintf(version_key, sizeof(version_key), "dart_%s", kind->objects);
	if (json_unpack(root, "{s:i, s:o !}", version_key, &version, kind->objects, list) ||
	    version != VERSION || !json_is_array(*list))
		return dart_error__set(error, EINVAL,
				       "%s: not a file of %s, version %d (see 'dartctl %s export')",
				       path, kind->objects, VERSION, kind->object);
	return 0;
}

int dart_target_file__load(const struct dart_target_kind *kind, const char *path,
			   struct in_addr address, void *target, struct dart_error *error)
{
	struct dart_collector *one = malloc(kind->size);
	json_t *root, *list;
	int ret;

	if (!one)
		return dart_error__set(error, ENOMEM, "%s", strerror(ENOMEM));
	ret = dart_collectors__read(path, &root, error);
	if (!ret) {
		ret = find_list(kind, root, path, &list, error) ?:
			      take_one(kind, list, path, address, one, target, error);
		json_decref(root);
	}
	free(one);
	return ret;
}

int dart_target_file__load_all(const struct dart_target_kind *kind, const char *path, void *targets,
			       uint32_t most, uint32_t *count, struct dart_error *error)
{
	json_t *root, *list;
	size_t i;
	int ret;

	ret = dart_collectors__read(path, &root, error);
	if (ret)
		return ret;
	ret = find_list(kind, root, path, &list, error);
	if (!ret && json_array_size(list) > most)
		ret = dart_error__set(error, EINVAL, "%s: more than %u %ss", path, most,
				      kind->part);
	for (i = 0; !ret && i < json_array_size(list); i++)
		ret = take_element(kind, list, i, path,
				   (void *)((uint8_t *)targets + i * kind->size), error);
	if (!ret)
		*count = json_array_size(list);
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
