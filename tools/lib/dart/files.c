// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lists and finds files, and writes them: see files.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/files.h>

static int is_yaml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return *entry->d_name != '.' && dot && !strcmp(dot, DART_FILES_YAML);
}

static int compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int dart_files__list_yaml(const char *directory, struct dirent ***entries)
{
	int count = scandir(directory, entries, is_yaml, compare);

	return count < 0 ? -errno : count;
}

void dart_files__free(struct dirent **entries, int count)
{
	int i;

	if (count < 0)
		return;
	for (i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

void dart_files__beside_program(const char *path, char found[static PATH_MAX])
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program));

	while (length > 0 && program[length - 1] != '/')
		length--;
	if (length <= 0 || snprintf(found, PATH_MAX, "%.*s%s", (int)length, program, path) >= PATH_MAX)
		*found = '\0';
}

int dart_files__write(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;
	ssize_t written;

	while (length) {
		written = write(fd, at, length);
		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			at += written;
			length -= written;
		}
	}
	return 0;
}
