// SPDX-License-Identifier: LGPL-2.1-or-later
/* Puts pages of a program into a memfd, and takes them out of it again. */
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

static size_t bytes_of(const struct dart_zero *zero)
{
	size_t bytes = 0, i;

	for (i = 0; i < zero->piece_count; i++)
		bytes += zero->pieces[i].bytes;
	return bytes;
}

/* Returns a memfd with the bytes of all pieces, not sealed yet, or -errno. */
static int copy_to_memfd(const struct dart_zero *zero)
{
	const size_t bytes = bytes_of(zero);
	int fd = memfd_create("dart_zero", MFD_CLOEXEC | MFD_ALLOW_SEALING), ret = 0;
	char *view, *to;
	size_t i;

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
	for (i = 0, to = view; i < zero->piece_count; to += zero->pieces[i++].bytes)
		memcpy(to, zero->pieces[i].at, zero->pieces[i].bytes);
	munmap(view, bytes);
	return fd;
}

/*
 * Replaces @bytes of shared memory at @at by a private copy.  Writes of other threads meanwhile may
 * be lost.
 */
static int copy_piece(char *at, size_t bytes)
{
	char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return -errno;
	memcpy(copy, at, bytes);
	if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED)
		return 0;
	munmap(copy, bytes);
	return -errno;
}

int dart_zero__copy(struct dart_zero *zero)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < zero->piece_count; i++)
		ret = copy_piece(zero->pieces[i].at, zero->pieces[i].bytes);
	if (!ret)
		zero->is_shared = false;
	return ret;
}

/* Writes a byte of each page as it is, so that the page belongs to the program. */
static void take_pages(char *at, size_t bytes, size_t page)
{
	char *end = at + bytes, value;

	for (; at < end; at += page) {
		value = __atomic_load_n(at, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(at, &value, value, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED))
			;
	}
}

/*
 * Maps the pages of @fd from @offset on privately over @piece.  The kernel replaces the mapping at
 * once and copies a page when it is written, so no write of another thread is lost.
 */
static int make_private(const struct dart_zero *zero, const struct dart_zero_piece *piece, int fd,
			off_t offset)
{
	if (mmap(piece->at, piece->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
		 offset) == MAP_FAILED)
		return -errno;
	/* Core dumps contain what the program has written only. */
	take_pages(piece->at, piece->bytes, zero->page);
	return 0;
}

int dart_zero__unshare(struct dart_zero *zero)
{
	const struct dart_zero_piece *piece;
	off_t offset = 0;
	int ret = 0;

	for (piece = zero->pieces; !ret && piece < zero->pieces + zero->piece_count; piece++) {
		ret = make_private(zero, piece, zero->fd, offset);
		offset += piece->bytes;
	}
	if (!ret)
		zero->is_shared = false;
	return ret;
}

int dart_zero__share(struct dart_zero *zero)
{
	const struct dart_zero_piece *piece = zero->pieces;
	int fd = copy_to_memfd(zero), ret;
	off_t offset = 0;

	if (fd < 0)
		return fd;
	for (; piece < zero->pieces + zero->piece_count; piece++) {
		if (mmap(piece->at, piece->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 fd, offset) == MAP_FAILED) {
			ret = -errno;
			goto unmap;
		}
		offset += piece->bytes;
	}
	/* The mappings stay writable: the seal forbids new ones. */
	if (fcntl(fd, F_ADD_SEALS, seals())) {
		ret = -errno;
		goto unmap;
	}
	zero->fd = fd;
	zero->is_shared = true;
	return 0;

unmap:
	while (piece-- > zero->pieces) {
		offset -= piece->bytes;
		make_private(zero, piece, fd, offset);
	}
	close(fd);
	return ret;
}
