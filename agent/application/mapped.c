// SPDX-License-Identifier: GPL-2.0-only
/* Finds memory that describes itself among the mappings of a process: see mapped.h. */
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "elf_image.h"
#include "proc_files.h"

#define BEGIN_LENGTH 64 /* bytes that tell the format of a file */
#define FILES_MAX 1024 /* mapped files of varnishd */
#define INDEX_MAX (1 << 20) /* bytes of an index of varnishd */
#define CHILD "/_.vsm_child/" /* the directory of the child of varnishd */

/* A file that a process can write to, mapped from its beginning. */
struct mapping {
	uint64_t start, end;
	char *path;
};

struct mappings {
	struct mapping *list;
	size_t count;
};

const char *application_format__name(enum application_format format)
{
	static const char *const names[] = {
		[APPLICATION_FORMAT_MMV] = "mmv",
		[APPLICATION_FORMAT_HSPERFDATA] = "jvm",
		[APPLICATION_FORMAT_VARNISH] = "varnish",
	};

	return names[format];
}

enum application_format application_format__find(const char *name)
{
	enum application_format format;

	for (format = APPLICATION_FORMAT_ANY + 1; format < APPLICATION_FORMATS; format++)
		if (!strcmp(application_format__name(format), name))
			return format;
	return APPLICATION_FORMAT_ANY;
}

/* ---- mappings */

static void mappings__clear(struct mappings *mappings)
{
	size_t i;

	for (i = 0; i < mappings->count; i++)
		free(mappings->list[i].path);
	free(mappings->list);
}

static int mappings__add(struct mappings *mappings, const struct mapping *mapping,
			 struct dart_error *error)
{
	struct mapping *list;

	list = reallocarray(mappings->list, mappings->count + 1, sizeof(*list));
	if (!list)
		return dart_error__no_memory(error);
	mappings->list = list;
	list += mappings->count;
	*list = *mapping;
	list->path = strdup(mapping->path);
	if (!list->path)
		return dart_error__no_memory(error);
	mappings->count++;
	return 0;
}

static const char *basename_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* Files of varnishd are called "_." and their class. */
static bool is_of_varnish(const struct mapping *mapping)
{
	return !strncmp(basename_of(mapping->path), "_.", 2);
}

/* Takes a line of /proc/PID/maps; false if it shows no mapping that counts. */
static bool take_line(char *line, struct mapping *mapping)
{
	unsigned long long start, end, offset;
	char write, shared;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %*c%c%*c%c %llx %*s %*s %n", &start, &end, &write, &shared,
		   &offset, &at) < 5 ||
	    !at || line[at] != '/' || offset || write != 'w' || shared != 's')
		return false;
	*mapping = (struct mapping){ .start = start, .end = end, .path = line + at };
	return end > start && end < DART_APPLICATION_ADDRESS_END;
}

/* What the first bytes of a mapping, or its name, tell; ANY for none of the formats. */
static enum application_format format_of(const struct proc_files *files,
					 const struct mapping *mapping)
{
	const struct elf_memory memory = proc_files__memory(files);
	uint8_t begin[BEGIN_LENGTH];

	if (is_of_varnish(mapping))
		return APPLICATION_FORMAT_VARNISH;
	if (elf_image__fetch(&memory, mapping->start, begin, sizeof(begin)))
		return APPLICATION_FORMAT_ANY;
	if (dart_mmv__begins(begin, sizeof(begin)))
		return APPLICATION_FORMAT_MMV;
	if (dart_hsperfdata__begins(begin, sizeof(begin)))
		return APPLICATION_FORMAT_HSPERFDATA;
	return APPLICATION_FORMAT_ANY;
}

/* Adds @mapping if it has the wanted format or, if any is wanted, that of the first mapping. */
static int take_mapping(struct mappings *mappings, const struct mapping *mapping,
			enum application_format found, enum application_format *format, pid_t pid,
			struct dart_error *error)
{
	if (found == APPLICATION_FORMAT_ANY)
		return 0;
	if (*format == APPLICATION_FORMAT_ANY)
		*format = found;
	if (*format != found && mappings->count)
		return dart_error__set(
			error, ENOTUNIQ,
			"process %d has mapped memory of both %s and %s (name one of them)", pid,
			application_format__name(*format), application_format__name(found));
	if (*format != found)
		return 0;
	if (found != APPLICATION_FORMAT_VARNISH && mappings->count)
		return dart_error__set(
			error, ENOTUNIQ,
			"process %d has mapped more than one file of %s: '%s' and '%s' (only one is supported)",
			pid, application_format__name(found), mappings->list[0].path,
			mapping->path);
	if (mappings->count == FILES_MAX)
		return dart_error__set(error, E2BIG, "process %d has mapped more than %d files",
				       pid, FILES_MAX);
	return mappings__add(mappings, mapping, error);
}

static int find_mappings(const struct proc_files *files, enum application_format *format,
			 struct mappings *mappings, struct dart_error *error)
{
	const bool is_any = *format == APPLICATION_FORMAT_ANY;
	enum application_format found;
	struct mapping mapping;
	char *line = NULL;
	size_t size = 0;
	int ret = 0;
	FILE *maps = proc_files__open_maps(files, &ret, error);

	if (!maps)
		return ret;
	while (!ret && getline(&line, &size, maps) > 0) {
		if (!take_line(line, &mapping))
			continue;
		found = format_of(files, &mapping);
		if (is_any || found == *format)
			ret = take_mapping(mappings, &mapping, found, format, files->pid, error);
	}
	free(line);
	fclose(maps);
	if (ret || mappings->count)
		return ret;
	return is_any ?
		       dart_error__set(
			       error, ENOENT,
			       "process %d has mapped no file of PCP (mmv), a Java virtual machine (hsperfdata) or Varnish to write to",
			       files->pid) :
		       dart_error__set(error, ENOENT,
				       "process %d has mapped no file of %s to write to",
				       files->pid, application_format__name(*format));
}

/* ---- copies of their bytes */

/* Fetches as many bytes as are there: a mapping can be longer than its file. */
static int fetch(const struct proc_files *files, const struct mapping *mapping,
		 struct dart_mapped *mapped, struct dart_error *error)
{
	const struct elf_memory memory = proc_files__memory(files);
	const size_t length = mapping->end - mapping->start;
	uint8_t *bytes;

	*mapped = (struct dart_mapped){ .address = mapping->start };
	if (length > DART_MAPPED_MAX)
		return dart_error__set(error, E2BIG, "'%s' has %zu bytes (at most %d are read)",
				       mapping->path, length, DART_MAPPED_MAX);
	bytes = malloc(length);
	if (!bytes)
		return dart_error__no_memory(error);
	mapped->bytes = bytes;
	mapped->length = elf_memory__fetch_some(&memory, mapping->start, bytes, length);
	return 0;
}

static int describe_one(const struct proc_files *files, const struct mapping *mapping,
			enum application_format format, struct dart_application_layout **layout,
			struct dart_error *error)
{
	struct dart_mapped mapped;
	int ret = fetch(files, mapping, &mapped, error);

	if (!ret)
		ret = format == APPLICATION_FORMAT_MMV ?
			      dart_mmv__describe(&mapped, layout, error) :
			      dart_hsperfdata__describe(&mapped, layout, error);
	free((void *)mapped.bytes);
	return ret;
}

/* ---- Varnish */

struct index {
	char *text;
	size_t length;
};

/*
 * Opens a file as the process sees it.  Its file system is its own: links that lead out of it are
 * not followed, and nothing but a regular file is opened.
 */
static int open_file_of(const struct proc_files *files, const char *path, size_t *length)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	struct stat status;
	int root, fd, ret;

	root = openat(files->directory, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	ret = fd < 0 ? -errno : 0;
	close(root);
	if (ret)
		return ret;
	if (fstat(fd, &status))
		ret = -errno;
	else if (!S_ISREG(status.st_mode))
		ret = -EINVAL;
	else if (status.st_size > INDEX_MAX)
		ret = -EFBIG;
	if (ret) {
		close(fd);
		return ret;
	}
	*length = status.st_size;
	return fd;
}

/* Appends the index in the directory of @mapping. */
static int add_index(const struct proc_files *files, const struct mapping *mapping,
		     struct index *index, struct dart_error *error)
{
	const int directory = basename_of(mapping->path) - mapping->path;
	size_t length = 0;
	char *path, *text;
	ssize_t got;
	int fd;

	if (asprintf(&path, "%.*s_.index", directory, mapping->path) < 0)
		return dart_error__no_memory(error);
	fd = open_file_of(files, path, &length);
	if (fd < 0) {
		dart_error__system(error, -fd, "cannot read '%s', the index of varnishd", path);
		free(path);
		return fd;
	}
	free(path);
	text = realloc(index->text, index->length + length + 1);
	if (!text) {
		close(fd);
		return dart_error__no_memory(error);
	}
	index->text = text;
	got = read(fd, text + index->length, length);
	close(fd);
	if (got < 0)
		return dart_error__system(error, errno, "cannot read the index of varnishd");
	index->length += got;
	/* The last line may be incomplete: it does not continue in the next index. */
	text[index->length++] = '\n';
	return 0;
}

static bool are_of_one_directory(const struct mapping *mapping, const struct mapping *other)
{
	const size_t length = basename_of(mapping->path) - mapping->path;

	return length == (size_t)(basename_of(other->path) - other->path) &&
	       !strncmp(mapping->path, other->path, length);
}

/* Reads the index of each directory.  A child of varnishd has mapped files of its parent, too. */
static int add_indices(const struct proc_files *files, const struct mappings *mappings,
		       struct index *index, struct dart_error *error)
{
	size_t i, j;
	int ret = 0;

	for (i = 0; !ret && i < mappings->count; i++) {
		for (j = 0; j < i; j++)
			if (are_of_one_directory(&mappings->list[i], &mappings->list[j]))
				break;
		if (j == i)
			ret = add_index(files, &mappings->list[i], index, error);
		if (!ret && index->length > INDEX_MAX)
			ret = dart_error__set(error, E2BIG,
					      "the indices of varnishd have more than %d bytes",
					      INDEX_MAX);
	}
	return ret;
}

/* Statistics and their descriptions; not the log, which is large. */
static bool has_statistics(const struct mapping *mapping)
{
	const char *name = basename_of(mapping->path);

	return !strncmp(name, "_.Stat", 6) || !strncmp(name, "_.VSC", 5);
}

/* The manager of varnishd maps its own files only; its child maps the files of both. */
static bool has_files_of_child(const struct mappings *mappings)
{
	const struct mapping *mapping;
	ssize_t before;

	for (mapping = mappings->list; mapping < mappings->list + mappings->count; mapping++) {
		before = basename_of(mapping->path) - mapping->path - (ssize_t)strlen(CHILD);
		if (before >= 0 && !strncmp(mapping->path + before, CHILD, strlen(CHILD)))
			return true;
	}
	return false;
}

static int describe_varnish(const struct proc_files *files, const struct mappings *mappings,
			    struct dart_application_layout **layout, struct dart_error *error)
{
	struct dart_varnish_file *list;
	struct index index = {};
	size_t count = 0, total = 0, i;
	int ret;

	if (!has_files_of_child(mappings))
		return dart_error__set(
			error, ENODEV,
			"process %d is the manager of varnishd, whose child has the counters",
			files->pid);
	list = calloc(mappings->count, sizeof(*list));
	if (!list)
		return dart_error__no_memory(error);
	ret = add_indices(files, mappings, &index, error);
	for (i = 0; !ret && i < mappings->count; i++) {
		if (!has_statistics(&mappings->list[i]))
			continue;
		list[count].name = (char *)basename_of(mappings->list[i].path);
		ret = fetch(files, &mappings->list[i], &list[count].mapped, error);
		total += list[count++].mapped.length;
		if (!ret && total > DART_MAPPED_MAX)
			ret = dart_error__set(error, E2BIG,
					      "the statistics of varnishd have more than %d bytes",
					      DART_MAPPED_MAX);
	}
	if (!ret)
		ret = dart_varnish__describe(index.text, index.length, list, count, layout, error);
	for (i = 0; i < count; i++)
		free((void *)list[i].mapped.bytes);
	free(list);
	free(index.text);
	return ret;
}

/* ---- the process */

int application_mapped__describe(int pidfd, enum application_format format,
				 struct dart_application_layout **layout, struct dart_error *error)
{
	struct mappings mappings = {};
	struct proc_files files;
	int ret = proc_files__open(&files, pidfd, error);

	if (ret)
		return ret;
	ret = find_mappings(&files, &format, &mappings, error);
	if (!ret)
		ret = format == APPLICATION_FORMAT_VARNISH ?
			      describe_varnish(&files, &mappings, layout, error) :
			      describe_one(&files, &mappings.list[0], format, layout, error);
	mappings__clear(&mappings);
	proc_files__close(&files);
	return ret;
}
