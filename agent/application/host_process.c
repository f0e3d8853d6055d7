// SPDX-License-Identifier: GPL-2.0-only
/* Reads files of processes under /proc. */
#include "host_process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DELETED " (deleted)"

int host_process__open(pid_t pid)
{
	const int fd = syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0)
		return fd;
	/* EINVAL: the number of a thread, or none. */
	return errno == EINVAL ? -ESRCH : -errno;
}

static FILE *open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

bool host_process__executable(pid_t pid, char path[static PATH_MAX])
{
	const size_t deleted = strlen(DELETED);
	char link[32];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	length = readlink(link, path, PATH_MAX - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	/* An upgrade has replaced the file. */
	if ((size_t)length > deleted && !strcmp(path + length - deleted, DELETED))
		path[length - deleted] = '\0';
	return true;
}

bool host_process__cgroup(pid_t pid, char path[static PATH_MAX])
{
	FILE *file = open_file(pid, "cgroup");
	char line[PATH_MAX];
	bool is_found = false;

	while (file && !is_found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		is_found = !strncmp(line, "0::", 3);
		if (is_found)
			snprintf(path, PATH_MAX, "%s", line + 3);
	}
	if (file)
		fclose(file);
	return is_found;
}

bool cgroup__is_in_unit(const char *cgroup, const char *unit)
{
	const size_t length = strlen(unit);
	const char *at;

	for (at = strchr(cgroup, '/'); at; at = strchr(at + 1, '/'))
		if (!strncmp(at + 1, unit, length) && (!at[1 + length] || at[1 + length] == '/'))
			return true;
	return false;
}

bool cgroup__is_below(const char *cgroup, const char *top)
{
	size_t length = strlen(top);

	while (length && top[length - 1] == '/')
		length--;
	return !strncmp(cgroup, top, length) && (!cgroup[length] || cgroup[length] == '/');
}

/* Users who may create cgroups choose any names; systemd has units of these characters. */
static bool is_name_of_unit(const char *name, size_t length)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789:-_.\\@";

	return strspn(name, allowed) >= length;
}

bool cgroup__service(const char *cgroup, char name[static NAME_MAX + 1])
{
	static const char suffix[] = ".service";
	const char *at, *end, *found = NULL;
	size_t length = 0;

	/* The last one: services of users lie below the service user@UID. */
	for (at = strchr(cgroup, '/'); at; at = *end ? end : NULL) {
		end = at + 1 + strcspn(at + 1, "/");
		if ((size_t)(end - at) <= strlen(suffix) || end - at > NAME_MAX ||
		    strncmp(end - strlen(suffix), suffix, strlen(suffix)) ||
		    !is_name_of_unit(at + 1, end - at - 1))
			continue;
		found = at + 1;
		length = end - found - strlen(suffix);
	}
	if (found)
		sprintf(name, "%.*s", (int)length, found);
	return found;
}

bool host_process__origin(pid_t pid, pid_t *parent, uint64_t *start)
{
	FILE *file = open_file(pid, "stat");
	char text[1024], *end;
	unsigned long long ticks;
	bool is_read;

	if (!file)
		return false;
	/* The name of the program, in parentheses, may contain anything, also ends of lines. */
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	end = strrchr(text, ')');
	is_read = end && sscanf(end + 1,
				" %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
				" %*s %*s %*s %llu",
				parent, &ticks) == 2;
	fclose(file);
	*start = is_read ? ticks : 0;
	return is_read;
}

pid_t host_process__parent(pid_t pid)
{
	uint64_t start;
	pid_t parent;

	return host_process__origin(pid, &parent, &start) ? parent : 0;
}

/* The owner of the directory under /proc is root if the process cannot be dumped. */
bool host_process__user(pid_t pid, uid_t *user)
{
	FILE *file = open_file(pid, "status");
	bool is_found = false;
	char line[256];

	while (file && !is_found && fgets(line, sizeof(line), file))
		is_found = sscanf(line, "Uid: %u", user) == 1;
	if (file)
		fclose(file);
	return is_found;
}

/* ---- all processes */

void host_processes__each(void (*take)(void *userdata, pid_t pid), void *userdata)
{
	DIR *directory = opendir("/proc");
	const struct dirent *file;

	while (directory && (file = readdir(directory)))
		if (isdigit((unsigned char)*file->d_name))
			take(userdata, atoi(file->d_name));
	if (directory)
		closedir(directory);
}
