// SPDX-License-Identifier: GPL-2.0-only
/* Finds layouts by build-id, and keeps a few: a program that starts again and again is cheap. */
#include "layouts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libdart/files.h>

#define INSTALLED "../share/dart/schemas/applications/layouts"
#define KNOWN_MAX 64
#define BUILD_ID_TEXT (2 * DART_APPLICATION_BUILD_ID_MAX + 1)

struct known_layout {
	TAILQ_ENTRY(known_layout) link; /* the one that was used last comes first */
	struct dart_application_layout *layout; /* NULL: the file cannot be used */
	unsigned int users; /* who have not put it back */
	struct dart_error why;
	/* The file as it was read. */
	dev_t device;
	ino_t inode;
	struct timespec changed;
};

void layouts__open(struct layouts *layouts)
{
	*layouts = (struct layouts){};
	dart_files__beside_program(INSTALLED, layouts->installed);
	TAILQ_INIT(&layouts->known);
	TAILQ_INIT(&layouts->forgotten);
}

static void known_layout__free(struct known_layout *known)
{
	dart_application_layout__free(known->layout);
	free(known);
}

static void layouts__forget(struct layouts *layouts, struct known_layout *known)
{
	TAILQ_REMOVE(&layouts->known, known, link);
	layouts->count--;
	if (known->users)
		TAILQ_INSERT_TAIL(&layouts->forgotten, known, link);
	else
		known_layout__free(known);
}

void layouts__put(struct layouts *layouts, const struct dart_application_layout *layout)
{
	struct known_layout *known;

	TAILQ_FOREACH(known, &layouts->known, link) {
		if (known->layout != layout)
			continue;
		known->users--;
		return;
	}
	TAILQ_FOREACH(known, &layouts->forgotten, link)
		if (known->layout == layout)
			break;
	if (--known->users)
		return;
	TAILQ_REMOVE(&layouts->forgotten, known, link);
	known_layout__free(known);
}

/* A layout that a thread reads stays until the program ends. */
void layouts__close(struct layouts *layouts)
{
	struct known_layout *known;

	while ((known = TAILQ_FIRST(&layouts->known)))
		layouts__forget(layouts, known);
}

static struct known_layout *layouts__known(struct layouts *layouts, const struct stat *status)
{
	struct known_layout *known;

	TAILQ_FOREACH(known, &layouts->known, link)
		if (known->device == status->st_dev && known->inode == status->st_ino)
			break;
	if (known && (known->changed.tv_sec != status->st_ctim.tv_sec ||
		      known->changed.tv_nsec != status->st_ctim.tv_nsec)) {
		layouts__forget(layouts, known);
		known = NULL;
	}
	return known;
}

static struct known_layout *layouts__read(struct layouts *layouts, FILE *file, const char *path,
					  const struct stat *status)
{
	struct known_layout *known = calloc(1, sizeof(*known));

	if (!known)
		return NULL;
	if (layouts->count == KNOWN_MAX)
		layouts__forget(layouts, TAILQ_LAST(&layouts->known, known_layouts));
	known->device = status->st_dev;
	known->inode = status->st_ino;
	known->changed = status->st_ctim;
	if (dart_application_layout__load(file, path, &known->layout, &known->why))
		known->layout = NULL;
	TAILQ_INSERT_HEAD(&layouts->known, known, link);
	layouts->count++;
	return known;
}

static int layouts__load(struct layouts *layouts, FILE *file, const char *path,
			 const struct dart_application_layout **layout, struct dart_error *error)
{
	struct known_layout *known;
	struct stat status;

	if (fstat(fileno(file), &status))
		return dart_error__system(error, errno, "cannot read '%s'", path);
	known = layouts__known(layouts, &status) ?: layouts__read(layouts, file, path, &status);
	if (!known)
		return dart_error__no_memory(error);
	TAILQ_REMOVE(&layouts->known, known, link);
	TAILQ_INSERT_HEAD(&layouts->known, known, link);
	*layout = known->layout;
	if (known->layout) {
		known->users++;
		return 0;
	}
	*error = known->why;
	return -EINVAL;
}

/* Returns NULL if the directory has no layout of the build. */
static FILE *open_in(const char *directory, const char *id, char path[static PATH_MAX])
{
	if (!*directory || snprintf(path, PATH_MAX, "%s/%s.yaml", directory, id) >= PATH_MAX)
		return NULL;
	return fopen(path, "re");
}

static FILE *layouts__open_file(const struct layouts *layouts,
				const struct dart_application_build_id *id,
				char text[static BUILD_ID_TEXT], char path[static PATH_MAX])
{
	dart_application_build_id__print(id, text);
	return open_in(LAYOUTS_OF_ADMIN, text, path) ?: open_in(layouts->installed, text, path);
}

bool layouts__lack(const struct layouts *layouts, const struct dart_application_build_id *id)
{
	char text[BUILD_ID_TEXT], path[PATH_MAX];
	FILE *file = layouts__open_file(layouts, id, text, path);

	if (file)
		fclose(file);
	return !file;
}

bool layouts__have_changed(struct layouts *layouts)
{
	const char *const directories[] = { LAYOUTS_OF_ADMIN, layouts->installed };
	const time_t now = time(NULL);
	struct timespec before;
	struct stat status;
	bool changed = false;
	size_t i;

	for (i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		before = layouts->changed[i];
		layouts->changed[i] = (struct timespec){};
		if (!stat(directories[i], &status))
			layouts->changed[i] = status.st_mtim;
		changed |= before.tv_sec != layouts->changed[i].tv_sec ||
			   before.tv_nsec != layouts->changed[i].tv_nsec ||
			   layouts->seen - before.tv_sec < EXECUTABLE_FILE_SETTLED_S;
	}
	layouts->seen = now;
	return changed;
}

int layouts__find(struct layouts *layouts, const struct dart_application_build_id *id,
		  const struct dart_application_layout **layout, struct dart_error *error)
{
	char text[BUILD_ID_TEXT], path[PATH_MAX];
	FILE *file = layouts__open_file(layouts, id, text, path);
	int ret;

	if (!file)
		return dart_error__set(
			error, ENOENT,
			"there is no layout for the build-id %s (make %s/%s.yaml with dartctl application describe)",
			text, LAYOUTS_OF_ADMIN, text);
	ret = layouts__load(layouts, file, path, layout, error);
	fclose(file);
	return ret;
}

bool layout__is_of(const struct dart_application_layout *layout, const char *name)
{
	const char *entry = layout->entries[0].schema->name;
	const size_t length = strlen(name);

	return !strncmp(entry, name, length) && (!entry[length] || entry[length] == ':');
}

/* ---- strangers */

static unsigned int place_of(const struct executable_file *file)
{
	const uint64_t mixed = (file->inode ^ (uint64_t)file->device_minor << 32 ^
				(uint64_t)file->device_major << 52) *
			       UINT64_C(0x9e3779b97f4a7c15);

	return mixed >> 32 & (STRANGERS - 1);
}

void strangers__add(struct strangers *strangers, const struct executable_file *file)
{
	if (file->inode && file->seen_s - file->changed_s >= EXECUTABLE_FILE_SETTLED_S)
		strangers->files[place_of(file)] = *file;
}

bool strangers__have(const struct strangers *strangers, pid_t pid)
{
	struct executable_file file;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return executable_file__read(&file, AT_FDCWD, path) && file.inode &&
	       executable_file__equals(&file, &strangers->files[place_of(&file)]);
}

void strangers__forget(struct strangers *strangers)
{
	*strangers = (struct strangers){};
}
