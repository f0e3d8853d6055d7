// SPDX-License-Identifier: GPL-2.0-only
/* Counts the objects of the host that no follower follows. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	*census = (struct census){};
	census->sources = calloc(count_sources(), sizeof(*census->sources));
	return census->sources ? 0 : -ENOMEM;
}

void census__close(struct census *census)
{
	free(census->sources);
}

static void count_devices(const struct devices_kind *kind, struct census_line *line)
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

static void count_namespaces(const struct followers *followers, struct census_line *line)
{
	struct dart_error error;
	uint32_t *inodes, count;

	/* No follower of namespaces exists, so the region need not report changes. */
	if (region__namespaces(followers->region, false, &inodes, &count, &error)) {
		log__peer_warning("coverage: %s", error.text);
		return;
	}
	line->present = count;
	if (count)
		snprintf(line->example, sizeof(line->example), "net:%u", inodes[0]);
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

/* The kernel counts the descendants of a cgroup, so no directory is walked. */
static uint64_t count_descendants(const char *path)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t count;

	if (directory < 0)
		return 0;
	count = read_number(directory, "cgroup.stat", "nr_descendants");
	close(directory);
	return count;
}

static void count_cgroups(struct census_line *line)
{
	char path[PATH_MAX];
	struct dart_error error;
	struct dirent *file;
	const char *label;
	DIR *directory;

	/* Without the version 2 hierarchy no cgroup can be served. */
	if (dart_object__path(DART_OBJECT_CGROUP, "/", path, &label, &error))
		return;
	directory = opendir(path);
	if (!directory)
		return;
	line->present = count_descendants(path);
	while (line->present && !*line->example && (file = readdir(directory)))
		if (file->d_type == DT_DIR && *file->d_name != '.')
			snprintf(line->example, sizeof(line->example), "/%.254s", file->d_name);
	closedir(directory);
}

/* Objects of PID 1 that a dartd in other namespaces cannot follow. */

static bool is_same_file(const char *path, const char *other)
{
	struct stat status, of_other;

	/* Without CAP_SYS_PTRACE the namespaces of PID 1 are not known. */
	return stat(path, &status) || stat(other, &of_other) ||
	       (status.st_dev == of_other.st_dev && status.st_ino == of_other.st_ino);
}

static void count_invisible_netdevs(struct census_line *line)
{
	FILE *file;
	char text[512], name[IF_NAMESIZE];

	if (is_same_file("/proc/self/ns/net", "/proc/1/ns/net"))
		return;
	file = fopen("/proc/1/net/dev", "re");
	/* The two title lines have no colon after the first word. */
	while (file && fgets(text, sizeof(text), file))
		if (sscanf(text, " %15[^: |]:", name) == 1 && strchr(text, ':') && !line->present++)
			snprintf(line->example, sizeof(line->example), "%s", name);
	if (file)
		fclose(file);
}

static void count_invisible_cgroups(struct census_line *line)
{
	const char *of_init = "/proc/1/root/sys/fs/cgroup";
	uint64_t visible, present;
	char path[PATH_MAX];
	struct dart_error error;
	const char *label;

	if (dart_object__path(DART_OBJECT_CGROUP, "/", path, &label, &error) ||
	    is_same_file(path, of_init))
		return;
	visible = count_descendants(path);
	present = count_descendants(of_init);
	if (present <= visible)
		return;
	line->present = present - visible;
	snprintf(line->example, sizeof(line->example), "/, the root of PID 1");
}

/* ---- controllers of version 1 */

static const struct {
	enum dart_zero_source source;
	const char *name; /* in /proc/cgroups */
	const char *why;
} controllers[] = {
#define CONTROLLER(of_source, of_name)                                                                               \
	{                                                                                                            \
		DART_ZERO_SOURCE_CGROUP_##of_source, of_name,                                                        \
			"the controller " of_name                                                                    \
			" belongs to a hierarchy of cgroup version 1 (boot with systemd.unified_cgroup_hierarchy=1)" \
	}
	CONTROLLER(MEMORY, "memory"), CONTROLLER(PIDS, "pids"),	  CONTROLLER(BANDWIDTH, "cpu"),
	CONTROLLER(IO, "blkio"),      CONTROLLER(DISKS, "blkio"),
};

#define CONTROLLERS (sizeof(controllers) / sizeof(controllers[0]))

static void find_version_1(struct census *census)
{
	FILE *file = fopen("/proc/cgroups", "re");
	unsigned int hierarchy;
	char line[128], name[64];
	size_t i;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %u", name, &hierarchy) != 2 || !hierarchy)
			continue;
		for (i = 0; i < CONTROLLERS; i++)
			if (!strcmp(controllers[i].name, name))
				census->version_1 |= 1u << i;
	}
	if (file)
		fclose(file);
}

const char *census__version_1(const struct census *census, const struct source *source)
{
	size_t i;

	for (i = 0; i < CONTROLLERS; i++)
		if (controllers[i].source == source->id && census->version_1 & 1u << i)
			return controllers[i].why;
	return NULL;
}

/* ---- maps and registrations */

/*
 * Maps that can be registered and are not.  The names of maps in which libbpf keeps the global
 * variables of a program have a dot, and so has the map through which dartd asks its programs;
 * these maps are not counters.
 */
static bool can_be_registered(const struct bpf_map_info *map, const struct registry *registry)
{
	return map->type == BPF_MAP_TYPE_ARRAY && map->map_flags & BPF_F_MMAPABLE &&
	       !strchr(map->name, '.') && !inventory__find_map(&registry->inventory, map->id);
}

static void count_maps(const struct registry *registry, struct census_line *line)
{
	uint32_t id = 0;

	while (!bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info map = {};
		uint32_t size = sizeof(map);
		int fd = bpf_map_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &map, &size) && can_be_registered(&map, registry) &&
		    !line->present++)
			snprintf(line->example, sizeof(line->example), "%u (%s)", map.id, map.name);
		close(fd);
	}
}

static void take_map(struct census *census, const struct registration *registration)
{
	struct census_failure *failure = &census->maps[coverage__reason_of(registration->code)];
	const char *name = json_string_value(json_object_get(registration->request, "name"));

	failure->count++;
	snprintf(failure->example, sizeof(failure->example), "%s",
		 name			    ?:
			 registration->path ?:
					      "map");
	snprintf(failure->why.text, sizeof(failure->why.text), "%s", registration->missing);
}

static void take_source(struct census *census, const struct registration *registration)
{
	const char *name = json_string_value(json_object_get(registration->request, "source"));
	const struct source *source = name ? source__find(name) : NULL;
	struct census_source *failed;

	if (!source)
		return;
	failed = &census->sources[source - sources];
	failed->has_failed = true;
	failed->reason = coverage__reason_of(registration->code);
	snprintf(failed->why.text, sizeof(failed->why.text), "%s", registration->missing);
}

static void take_registration(void *userdata, const struct registration *registration)
{
	const char *request = json_string_value(json_object_get(registration->request, "request"));
	struct census *census = userdata;

	if (!request)
		return;
	if (!strcmp(request, "register-map")) {
		take_map(census, registration);
	} else if (!strcmp(request, "register-source") || !strcmp(request, "follow-source")) {
		take_source(census, registration);
	} else if (!strcmp(request, "register-host")) {
		census->host_reason = coverage__reason_of(registration->code);
		snprintf(census->host_failure.text, sizeof(census->host_failure.text), "%s",
			 registration->missing);
	}
}

/* True if all objects of the kind are followed: their follower counts them. */
static bool is_followed(const struct followers *followers, enum coverage_kind kind)
{
	const struct follower *follower;

	TAILQ_FOREACH(follower, &followers->list, link)
		if (follower->is_whole && census__kind_of(follower->source) == kind)
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
		count_devices(&filesystems, &census->kinds[COVERAGE_FILESYSTEMS]);
	if (!is_followed(followers, COVERAGE_NETDEVS))
		count_devices(&netdevs, &census->kinds[COVERAGE_NETDEVS]);
	if (!is_followed(followers, COVERAGE_DISKS))
		count_devices(&disks, &census->kinds[COVERAGE_DISKS]);
	if (!is_followed(followers, COVERAGE_CGROUPS))
		count_cgroups(&census->kinds[COVERAGE_CGROUPS]);
	if (!is_followed(followers, COVERAGE_NAMESPACES))
		count_namespaces(followers, &census->kinds[COVERAGE_NAMESPACES]);
	count_invisible_netdevs(&census->invisible[COVERAGE_NETDEVS]);
	count_invisible_cgroups(&census->invisible[COVERAGE_CGROUPS]);
	find_version_1(census);
	count_maps(followers->registry, &census->kinds[COVERAGE_MAPS]);
	registrations__each_missing(registrations, take_registration, census);
}
