// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared_file.h"

static void *all; /* a tsearch() tree */

static int compare(const void *left, const void *right)
{
	const struct shared_file *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->inode > b->inode) - (a->inode < b->inode);
}

/* Adds a duplicate of @fd, the file of @key. */
static int add(const struct shared_file *key, int fd, struct shared_file **result)
{
	struct shared_file *file = malloc(sizeof(*file));
	int ret;

	if (!file)
		return -ENOMEM;
	*file = *key;
	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (file->fd < 0) {
		ret = -errno;
	} else if (!tsearch(file, &all, compare)) {
		close(file->fd);
		ret = -ENOMEM;
	} else {
		*result = file;
		return 0;
	}
	free(file);
	return ret;
}

/* While a descriptor is open, no other file gets the number of its inode. */
int shared_file__take(int fd, struct shared_file **file)
{
	struct shared_file key = {}, *const *found;
	struct stat status;
	int ret = 0;

	if (fstat(fd, &status))
		return -errno;
	key.device = status.st_dev;
	key.inode = status.st_ino;
	found = tfind(&key, &all, compare);
	if (found)
		*file = *found;
	else
		ret = add(&key, fd, file);
	if (!ret)
		(*file)->users++;
	return ret;
}

void shared_file__give(struct shared_file *file)
{
	if (--file->users)
		return;
	tdelete(file, &all, compare);
	close(file->fd);
	free(file);
}
