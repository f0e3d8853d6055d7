// SPDX-License-Identifier: GPL-2.0-only
/* Indexes the known cgroups of a tree, and reads their directories. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup_set.h"

void cgroup_set__open(struct cgroup_set *set)
{
	*set = (struct cgroup_set){
		.paths = ENTRY_INDEX_OF_NAMES,
		.watches = {
			[CGROUP_OF_ROOT] = ENTRY_INDEX_OF_NUMBERS,
			[CGROUP_DELEGATED] = ENTRY_INDEX_OF_NUMBERS,
		},
	};
}

struct cgroup *cgroup_set__add(struct cgroup_set *set, struct cgroup *parent, const char *path)
{
	struct cgroup *cgroup = calloc(1, sizeof(*cgroup) + strlen(path) + 1);

	if (!cgroup)
		return NULL;
	strcpy(cgroup->text, path);
	cgroup->path = cgroup->text;
	TAILQ_INIT(&cgroup->children);
	SLIST_INIT(&cgroup->places);
	SLIST_INIT(&cgroup->left_out);
	if (entry_index__add(&set->paths, &cgroup->path)) {
		free(cgroup);
		return NULL;
	}
	cgroup->parent = parent;
	if (parent)
		TAILQ_INSERT_TAIL(&parent->children, cgroup, sibling);
	else
		set->top = cgroup;
	return cgroup;
}

void cgroup_set__remove(struct cgroup_set *set, struct cgroup *cgroup)
{
	entry_index__remove(&set->paths, &cgroup->path);
	if (cgroup->parent)
		TAILQ_REMOVE(&cgroup->parent->children, cgroup, sibling);
	else
		set->top = NULL;
	free(cgroup);
}

struct cgroup *cgroup_set__find(const struct cgroup_set *set, const char *path)
{
	const void *found = entry_index__find(&set->paths, &path);

	if (!found)
		return NULL;
	return (struct cgroup *)((char *)found - offsetof(struct cgroup, path));
}

int cgroup_set__watch(struct cgroup_set *set, struct cgroup *cgroup,
		      enum cgroup_class class, int wd)
{
	cgroup->wd = wd;
	if (entry_index__add(&set->watches[class], &cgroup->wd))
		return -ENOMEM;
	cgroup->watch_class = class;
	cgroup->is_watched = true;
	return 0;
}

void cgroup_set__unwatch(struct cgroup_set *set, struct cgroup *cgroup)
{
	entry_index__remove(&set->watches[cgroup->watch_class], &cgroup->wd);
	cgroup->is_watched = false;
}

struct cgroup *cgroup_set__find_watch(const struct cgroup_set *set, enum cgroup_class class, int wd)
{
	const uint32_t number = wd;
	const void *found = entry_index__find(&set->watches[class], &number);

	if (!found)
		return NULL;
	return (struct cgroup *)((char *)found - offsetof(struct cgroup, wd));
}

struct cgroup *cgroup__next(const struct cgroup *cgroup, const struct cgroup *from)
{
	struct cgroup *next = TAILQ_FIRST(&cgroup->children);

	while (!next && cgroup != from) {
		next = TAILQ_NEXT(cgroup, sibling);
		cgroup = cgroup->parent;
	}
	return next;
}

struct cgroup *cgroup__first_leaf(struct cgroup *from)
{
	while (!TAILQ_EMPTY(&from->children))
		from = TAILQ_FIRST(&from->children);
	return from;
}

/* ---- directories */

int cgroup__join_path(char path[static PATH_MAX], const char *outer, const char *name)
{
	const char *slash = *outer && strcmp(outer, "/") && *name ? "/" : "";

	if (snprintf(path, PATH_MAX, "%s%s%s", outer, slash, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

bool cgroup__is_root(int fd)
{
	return faccessat(fd, "cgroup.type", F_OK, 0) != 0;
}

uint64_t cgroup__count_below(int fd, const char *name)
{
	static const char member[] = "nr_descendants ";
	char path[NAME_MAX + sizeof("/cgroup.stat")], text[4096], *at;
	ssize_t length;
	int file;

	snprintf(path, sizeof(path), "%s/cgroup.stat", name);
	file = openat(fd, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	length = read(file, text, sizeof(text) - 1);
	close(file);
	text[length > 0 ? length : 0] = '\0';
	at = strstr(text, member);
	return at ? strtoull(at + sizeof(member) - 1, NULL, 10) : 0;
}
