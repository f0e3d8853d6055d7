// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/dart_zero.h>

#include "slices.h"

/* With these seals neither dartd nor the process can make the other one fault. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
/* As DART_ZERO_IOC_ADD_SLICE. */
#define PAGES_MAX 256

int slices__open(struct slices *slices)
{
	*slices = (struct slices){
		.inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
	};
	TAILQ_INIT(&slices->list);
	return slices->inotify < 0 ? -errno : 0;
}

void slices__close(struct slices *slices)
{
	struct slice *slice;

	while ((slice = TAILQ_FIRST(&slices->list)))
		slices__remove(slices, slice);
	close(slices->inotify);
}

/* Asks the kernel alone, unlike fstat(2), which asks the server of a file. */
static bool is_sealed(int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

int slices__pages(int fd, uint32_t *pages)
{
	const long page = sysconf(_SC_PAGESIZE);
	struct stat status;

	if (!is_sealed(fd) || fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    status.st_blksize != page || !status.st_size || status.st_size % page ||
	    status.st_size / page > PAGES_MAX)
		return -EINVAL;
	*pages = status.st_size / page;
	return 0;
}

/* Opens the file again, so that the two open files can be told apart. */
static int reopen(int fd)
{
	char path[32];
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = open(path, O_RDWR | O_CLOEXEC);
	return copy < 0 ? -errno : copy;
}

/* The kernel does not count the file that memfd_create() opens as a writer: has_other_users(). */
static int create_memory(uint64_t size)
{
	int fd = memfd_create("dart_slice", MFD_CLOEXEC | MFD_ALLOW_SEALING), ret;

	if (fd < 0)
		return -errno;
	ret = ftruncate(fd, size) || fcntl(fd, F_ADD_SEALS, SEALS) ? -errno : reopen(fd);
	close(fd);
	return ret;
}

static struct slice *find_inode(const struct slices *slices, uint64_t inode)
{
	struct slice *slice;

	TAILQ_FOREACH(slice, &slices->list, link)
		if (slice->inode == inode)
			return slice;
	return NULL;
}

/* Maps @slice->memory at @place, and adds @slice to the list. */
static int add(struct slices *slices, struct slice *slice, void *place, uint64_t size)
{
	struct stat status;

	if (fstat(slice->memory, &status))
		return -errno;
	slice->inode = status.st_ino;
	/* Writable, because Linux before 6.2 refuses to pin read-only memory for adapters. */
	if (mmap(place, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, slice->memory, 0) ==
	    MAP_FAILED)
		return -errno;
	TAILQ_INSERT_TAIL(&slices->list, slice, link);
	return 0;
}

int slices__add(struct slices *slices, void *place, uint32_t pages, int adopted,
		struct slice **result)
{
	const uint64_t size = (uint64_t)pages * sysconf(_SC_PAGESIZE);
	struct slice *slice;
	struct stat status;
	int ret;

	if (adopted >= 0 && fstat(adopted, &status))
		return -EINVAL;
	*result = adopted >= 0 ? find_inode(slices, status.st_ino) : NULL;
	if (*result)
		return -EEXIST;
	slice = calloc(1, sizeof(*slice));
	if (!slice)
		return -ENOMEM;
	slice->watch = -1;
	slice->pages = pages;
	slice->memory = adopted >= 0 ? reopen(adopted) : create_memory(size);
	ret = slice->memory < 0 ? slice->memory : add(slices, slice, place, size);
	if (!ret) {
		*result = slice;
		return 0;
	}
	if (slice->memory >= 0)
		close(slice->memory);
	free(slice);
	return ret;
}

void slices__take_back(struct slices *slices, struct slice *slice)
{
	if (slice->watch >= 0)
		inotify_rm_watch(slices->inotify, slice->watch);
	slice->watch = -1;
	slice->id = 0;
	slice->is_gone = false;
}

void slices__remove(struct slices *slices, struct slice *slice)
{
	slices__take_back(slices, slice);
	TAILQ_REMOVE(&slices->list, slice, link);
	close(slice->memory);
	free(slice);
}

int slices__lend(struct slices *slices, struct slice *slice, uint32_t id)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", slice->memory);
	slice->watch = inotify_add_watch(slices->inotify, path, IN_CLOSE);
	if (slice->watch < 0)
		return -errno;
	fd = reopen(slice->memory);
	if (fd < 0) {
		slices__take_back(slices, slice);
		return fd;
	}
	slice->id = id;
	return fd;
}

/* The kernel grants a lease for writing only if no other file is open on the memory. */
static bool has_other_users(const struct slice *slice)
{
	if (fcntl(slice->memory, F_SETLEASE, F_WRLCK))
		return true;
	fcntl(slice->memory, F_SETLEASE, F_UNLCK);
	return false;
}

uint32_t slices__next_gone(struct slices *slices)
{
	char events[4096];
	struct slice *slice;

	/* The events need not tell which slices: one of several users may have caused an event. */
	while (read(slices->inotify, events, sizeof(events)) > 0)
		;
	TAILQ_FOREACH(slice, &slices->list, link) {
		if (!slice->id || slice->is_gone || has_other_users(slice))
			continue;
		slice->is_gone = true;
		return slice->id;
	}
	return 0;
}
