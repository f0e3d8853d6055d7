// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a process knows about itself: see preload_process.h. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "preload_process.h"

/* ---- modules */

static size_t aligned(size_t bytes, size_t alignment)
{
	return (bytes + alignment - 1) & ~(alignment - 1);
}

/* Looks at the notes of a segment for the build-id. */
static void take_notes(struct preload_loaded *loaded, const char *at, size_t length, size_t align)
{
	const size_t alignment = align == 8 ? 8 : 4;
	const char *id, *end = at + length;
	const ElfW(Nhdr) *note;
	uint32_t i;

	while ((size_t)(end - at) > sizeof(*note)) {
		note = (const ElfW(Nhdr) *)at;
		id = at + aligned(sizeof(*note) + note->n_namesz, alignment);
		if (id > end || (size_t)(end - id) < note->n_descsz)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") &&
		    !memcmp(note + 1, "GNU", sizeof("GNU")) &&
		    note->n_descsz < PRELOAD_BUILD_ID_MAX / 2) {
			for (i = 0; i < note->n_descsz; i++)
				sprintf(loaded->build_id + 2 * i, "%02x", (unsigned char)id[i]);
			return;
		}
		at = id + aligned(note->n_descsz, alignment);
		if (at > end)
			return;
	}
}

static bool is_wanted(const struct preload_loaded *loaded, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!loaded->soname)
		return !*path; /* of the executable, which comes first */
	return !strcmp(slash ? slash + 1 : path, loaded->soname);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *into)
{
	struct preload_loaded *loaded = into;
	int i;

	(void)size;
	if (!is_wanted(loaded, info->dlpi_name))
		return 0;
	loaded->base = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE && !*loaded->build_id)
			take_notes(loaded,
				   (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
				   info->dlpi_phdr[i].p_memsz, info->dlpi_phdr[i].p_align);
	return 1;
}

bool preload_process__find(struct preload_loaded *loaded)
{
	*loaded->build_id = '\0';
	return dl_iterate_phdr(look_at, loaded);
}

/* ---- pages and threads */

int preload_process__keep_writable(uintptr_t *pages, size_t count, size_t page_size)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long first, end;
	char line[PATH_MAX + 128], access[5];
	size_t i, at = 0, kept = 0;

	if (!file)
		return -errno;
	/* Both are in ascending order. */
	while (at < count && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %4s", &first, &end, access) != 3)
			continue;
		while (at < count && pages[at] < first)
			at++;
		for (i = at; i < count && pages[i] + page_size <= end; i++)
			if (!strcmp(access, "rw-p"))
				pages[kept++] = pages[i];
		at = i;
	}
	fclose(file);
	return kept;
}

unsigned int preload_process__threads(void)
{
	DIR *directory = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned int count = 0;

	while (directory && (entry = readdir(directory)))
		count += *entry->d_name != '.';
	if (directory)
		closedir(directory);
	return count;
}

/* ---- names */

void preload_process__escape(char label[static PRELOAD_LABEL_MAX], const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-.:/@=~";
	size_t length = 1;

	*label = '@';
	for (; *name && length + 4 < PRELOAD_LABEL_MAX; name++) {
		if (strchr(plain, *name))
			label[length++] = *name;
		else
			length += sprintf(label + length, "%%%02X", (unsigned char)*name);
	}
	label[length] = '\0';
}

/*
 * Finds the service in the path of a cgroup, the last one, because services of users lie below the
 * service user@UID, and ends the path after it; NULL: there is none.
 */
static const char *service_in(char *path)
{
	static const char suffix[] = ".service";
	char *at, *end, *found = NULL, *found_end = NULL;

	for (at = strchr(path, '/'); at; at = *end ? end : NULL) {
		end = at + 1 + strcspn(at + 1, "/\n");
		if (end - at > (long)strlen(suffix) &&
		    !strncmp(end - strlen(suffix), suffix, strlen(suffix))) {
			found = at + 1;
			found_end = end - strlen(suffix);
		}
		if (*end == '\n')
			break;
	}
	if (found)
		*found_end = '\0';
	return found;
}

void preload_process__label(char label[static PRELOAD_LABEL_MAX], bool by_pid)
{
	FILE *file = by_pid ? NULL : fopen("/proc/self/cgroup", "re");
	const char *service = NULL;
	char line[PATH_MAX];

	/* The line of the hierarchy of version 2. */
	while (file && !service && fgets(line, sizeof(line), file))
		service = strncmp(line, "0::", 3) ? NULL : service_in(line + 3);
	if (file)
		fclose(file);
	if (service)
		preload_process__escape(label, service);
	else
		snprintf(label, PRELOAD_LABEL_MAX, "@pid-%d", getpid());
}
