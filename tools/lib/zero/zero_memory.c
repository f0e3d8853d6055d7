// SPDX-License-Identifier: LGPL-2.1-or-later
/* Puts the variables and objects of a program into a memfd, and takes them out of it again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "zero_internal.h"

/* Before Linux 6.2 dartd cannot show memory that it may not map for writing. */
static int seals(void)
{
	struct utsname host;
	int major, minor;

	if (!uname(&host) && sscanf(host.release, "%d.%d", &major, &minor) == 2 &&
	    (major < 6 || (major == 6 && minor < 2)))
		return F_SEAL_SHRINK | F_SEAL_GROW;
	return F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
}

/* Returns a memfd with the bytes of the variables and the room, not sealed yet, or -errno. */
static int copy_to_memfd(const struct dart_zero *zero)
{
	const size_t bytes = zero->variable_bytes + zero->room_bytes;
	int fd = memfd_create("dart_zero", MFD_CLOEXEC | MFD_ALLOW_SEALING), ret = 0;
	char *view;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, bytes))
		ret = -errno;
	view = ret ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!ret && view == MAP_FAILED)
		ret = -errno;
	if (ret) {
		close(fd);
		return ret;
	}
	memcpy(view, zero->variables, zero->variable_bytes);
	if (zero->room_bytes)
		memcpy(view + zero->variable_bytes, zero->room, zero->room_bytes);
	munmap(view, bytes);
	return fd;
}

static int map(char *at, size_t bytes, int fd, off_t offset)
{
	if (!bytes)
		return 0;
	return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset) ==
			       MAP_FAILED ?
		       -errno :
		       0;
}

/*
 * Replaces @bytes of shared memory at @at by private ones with the same contents.  Other threads
 * find memory there at each moment.
 */
static int make_private(char *at, size_t bytes)
{
	char *copy;

	if (!bytes)
		return 0;
	copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return -errno;
	memcpy(copy, at, bytes);
	if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED)
		return 0;
	munmap(copy, bytes);
	return -errno;
}

int dart_zero__unshare(struct dart_zero *zero)
{
	int ret = make_private(zero->variables, zero->variable_bytes);

	if (!ret)
		ret = make_private(zero->room, zero->room_bytes);
	if (!ret) {
		close(zero->fd);
		zero->fd = -1;
	}
	return ret;
}

int dart_zero__share(struct dart_zero *zero)
{
	int fd = copy_to_memfd(zero), ret;

	if (fd < 0)
		return fd;
	ret = map(zero->variables, zero->variable_bytes, fd, 0);
	if (ret)
		goto close_fd;
	ret = map(zero->room, zero->room_bytes, fd, zero->variable_bytes);
	if (ret)
		goto unmap;
	/* The mappings stay writable: the seal forbids new ones. */
	if (fcntl(fd, F_ADD_SEALS, seals())) {
		ret = -errno;
		goto unmap;
	}
	zero->fd = fd;
	return 0;

unmap:
	make_private(zero->variables, zero->variable_bytes);
	make_private(zero->room, zero->room_bytes);
close_fd:
	close(fd);
	return ret;
}
