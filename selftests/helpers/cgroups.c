// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes cgroups as an ordinary user can in a subtree that was delegated:
 *
 *	cgroups flat COUNT DIRECTORY	side by side, "flat0", "flat1", ...
 *	cgroups chain COUNT DIRECTORY	each in the one before, all called "a"
 *	cgroups named LENGTH DIRECTORY	one below another, of 200 bytes each, until the
 *					path below DIRECTORY has LENGTH bytes
 *	cgroups remove DIRECTORY	all below DIRECTORY, however deep
 *	cgroups rounds COUNT DIRECTORY	makes one and removes it, COUNT times
 */
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return EXIT_FAILURE;
}

static int make_flat(int count)
{
	char name[32];
	int i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "flat%d", i);
		if (mkdir(name, 0755))
			return fail(name);
	}
	return EXIT_SUCCESS;
}

static int make_chain(int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (mkdir("a", 0755) || chdir("a"))
			return fail("a");
	return EXIT_SUCCESS;
}

static int make_named(int length)
{
	char name[201];
	int part;

	while (length > 0) {
		/* A name follows the last slash. */
		part = length > 202 ? 200 : length > 200 ? length - 2 : length;
		memset(name, 'n', part);
		name[part] = '\0';
		if (mkdir(name, 0755) || chdir(name))
			return fail(name);
		length -= part + 1;
	}
	return EXIT_SUCCESS;
}

static int make_rounds(int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (mkdir("round", 0755) || rmdir("round"))
			return fail("round");
	return EXIT_SUCCESS;
}

/* Enters the first subdirectory; returns its name in @name, or false. */
static bool first_below(char name[static NAME_MAX + 1])
{
	DIR *directory = opendir(".");
	struct dirent *file;
	bool is_found = false;

	while (directory && !is_found && (file = readdir(directory)))
		if (file->d_type == DT_DIR && file->d_name[0] != '.') {
			strcpy(name, file->d_name);
			is_found = true;
		}
	if (directory)
		closedir(directory);
	return is_found;
}

/* Removes from the deepest on, with one descriptor. */
static int remove_all(void)
{
	char name[NAME_MAX + 1];
	int depth = 0;

	while (true) {
		while (first_below(name) && rmdir(name)) {
			if (errno != EBUSY || chdir(name))
				return fail(name);
			depth++;
		}
		if (first_below(name))
			continue;
		if (!depth--)
			return EXIT_SUCCESS;
		if (chdir(".."))
			return fail("..");
	}
}

int main(int argc, char *argv[])
{
	const char *directory = argv[argc - 1];

	if (argc < 3 || chdir(directory))
		return fail(directory);
	if (!strcmp(argv[1], "remove"))
		return remove_all();
	if (!strcmp(argv[1], "flat"))
		return make_flat(atoi(argv[2]));
	if (!strcmp(argv[1], "chain"))
		return make_chain(atoi(argv[2]));
	if (!strcmp(argv[1], "named"))
		return make_named(atoi(argv[2]));
	if (!strcmp(argv[1], "rounds"))
		return make_rounds(atoi(argv[2]));
	return EXIT_FAILURE;
}
