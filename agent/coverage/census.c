// SPDX-License-Identifier: GPL-2.0-only
/* Counts what the host has without following it. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/configuration/object.h>

#include "agent/base/log.h"
#include "agent/follow/devices.h"
#include "census.h"

enum coverage_kind census__kind_of(const struct source *source)
{
	switch (source->selector) {
	case SOURCE_SELECTOR_NETNS:
		return COVERAGE_NAMESPACES;
	case SOURCE_SELECTOR_NETDEV:
		return COVERAGE_NETDEVS;
	case SOURCE_SELECTOR_DISK:
		return COVERAGE_DISKS;
	case SOURCE_SELECTOR_CGROUP:
		return COVERAGE_CGROUPS;
	case SOURCE_SELECTOR_FILESYSTEM:
		return COVERAGE_FILESYSTEMS;
	default:
		return COVERAGE_SOURCES;
	}
}

static size_t count_sources(void)
{
	const struct source *source = sources;

	while (source->name)
		source++;
	return source - sources;
}

int census__open(struct census *census)
{
	*census = (struct census){ };
	census->sources = calloc(count_sources(), sizeof(*census->sources));
	return census->sources ? 0 : -ENOMEM;
}

void census__close(struct census *census)
{
	free(census->sources);
}

static void count_devices(const struct devices_kind *kind,
			  struct census_line *line)
{
	struct device_count count;
	struct dart_error error;

	if (devices__count(kind, &count, &error)) {
		log__peer_warning("coverage: %s", error.text);
		return;
	}
	line->present = count.present;
	snprintf(line->example, sizeof(line->example), "%s", count.example);
}

static void count_namespaces(const struct followers *followers,
			     struct census_line *line)
{
	struct dart_error error;
	uint32_t *inodes, count;

	/* Nothing follows them: the region reports no changes before or after. */
	if (region__namespaces(followers->region, false, &inodes, &count,
			       &error)) {
		log__peer_warning("coverage: %s", error.text);
		return;
	}
	line->present = count;
	if (count)
		snprintf(line->example, sizeof(line->example), "net:%u",
			 inodes[0]);
	free(inodes);
}

/* The value of "KEY NUMBER" in a file of the kernel, or 0. */
static uint64_t read_number(int directory, const char *name, const char *key)
{
	size_t length = strlen(key);
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	uint64_t number = 0;
	char line[128];

	if (fd >= 0 && !file)
		close(fd);
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, length) && line[length] == ' ')
			number = strtoull(line + length, NULL, 10);
	if (file)
		fclose(file);
	return number;
}

/* The kernel counts the descendants of a cgroup: none is looked for. */
static void count_cgroups(struct census_line *line)
{
	char path[PATH_MAX];
	struct dart_error error;
	struct dirent *file;
	const char *label;
	DIR *directory;

	/* Without the hierarchy of version 2 there are no cgroups to serve. */
	if (dart_object__path(DART_OBJECT_CGROUP, "/", path, &label, &error))
		return;
	directory = opendir(path);
	if (!directory)
		return;
	line->present = read_number(dirfd(directory), "cgroup.stat",
				    "nr_descendants");
	while (line->present && !*line->example && (file = readdir(directory)))
		if (file->d_type == DT_DIR && *file->d_name != '.')
			snprintf(line->example, sizeof(line->example), "/%.254s",
				 file->d_name);
	closedir(directory);
}

/*
 * Maps that can be registered and are not.  The names of maps in which libbpf keeps the
 * global variables of a program have a dot; they are no counters of their own.
 */
static bool can_be_registered(const struct bpf_map_info *map,
			      const struct registry *registry)
{
	return map->type == BPF_MAP_TYPE_ARRAY &&
	       map->map_flags & BPF_F_MMAPABLE && !strchr(map->name, '.') &&
	       !registry__find_map(registry, map->id);
}

static void count_maps(const struct registry *registry,
		       struct census_line *line)
{
	uint32_t id = 0;

	while (!bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info map = { };
		uint32_t size = sizeof(map);
		int fd = bpf_map_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &map, &size) &&
		    can_be_registered(&map, registry) && !line->present++)
			snprintf(line->example, sizeof(line->example),
				 "id %u (%s)", map.id, map.name);
		close(fd);
	}
}

static void take_map(struct census *census,
		     const struct registration *registration)
{
	struct census_failure *failure =
		&census->maps[coverage__reason_of(registration->code)];
	const char *name = json_string_value(
		json_object_get(registration->request, "name"));

	failure->count++;
	snprintf(failure->example, sizeof(failure->example), "%s",
		 name ?: registration->path ?: "map");
	snprintf(failure->why.text, sizeof(failure->why.text), "%s",
		 registration->missing);
}

static void take_source(struct census *census,
			const struct registration *registration)
{
	const char *name = json_string_value(
		json_object_get(registration->request, "source"));
	const struct source *source = name ? source__find(name) : NULL;
	struct census_source *failed;

	if (!source)
		return;
	failed = &census->sources[source - sources];
	failed->has_failed = true;
	failed->reason = coverage__reason_of(registration->code);
	snprintf(failed->why.text, sizeof(failed->why.text), "%s",
		 registration->missing);
}

static void take_registration(void *userdata,
			      const struct registration *registration)
{
	const char *request = json_string_value(
		json_object_get(registration->request, "request"));
	struct census *census = userdata;

	if (!request)
		return;
	if (!strcmp(request, "register-map")) {
		take_map(census, registration);
	} else if (!strcmp(request, "register-source") ||
		   !strcmp(request, "follow-source")) {
		take_source(census, registration);
	} else if (!strcmp(request, "register-host")) {
		census->host_reason = coverage__reason_of(registration->code);
		snprintf(census->host_failure.text,
			 sizeof(census->host_failure.text), "%s",
			 registration->missing);
	}
}

/* True if all objects of the kind are followed: their follower counts them. */
static bool is_followed(const struct followers *followers,
			enum coverage_kind kind)
{
	const struct follower *follower;

	TAILQ_FOREACH(follower, &followers->list, link)
		if (follower->is_whole &&
		    census__kind_of(follower->source) == kind)
			return true;
	return false;
}

void census__take(struct census *census, const struct followers *followers,
		  const struct registrations *registrations)
{
	struct census_source *of_sources = census->sources;

	memset(of_sources, 0, count_sources() * sizeof(*of_sources));
	*census = (struct census){ .sources = of_sources };
	if (!is_followed(followers, COVERAGE_FILESYSTEMS))
		count_devices(&filesystems,
			      &census->kinds[COVERAGE_FILESYSTEMS]);
	if (!is_followed(followers, COVERAGE_NETDEVS))
		count_devices(&netdevs, &census->kinds[COVERAGE_NETDEVS]);
	if (!is_followed(followers, COVERAGE_DISKS))
		count_devices(&disks, &census->kinds[COVERAGE_DISKS]);
	if (!is_followed(followers, COVERAGE_CGROUPS))
		count_cgroups(&census->kinds[COVERAGE_CGROUPS]);
	if (!is_followed(followers, COVERAGE_NAMESPACES))
		count_namespaces(followers,
				 &census->kinds[COVERAGE_NAMESPACES]);
	count_maps(followers->registry, &census->kinds[COVERAGE_MAPS]);
	registrations__each_missing(registrations, take_registration, census);
}
