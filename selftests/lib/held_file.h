/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file in FUSE whose server never provides its page: a reader waits until the server ends.  On
 * many hosts any user can mount such a file system.
 */
#ifndef HELD_FILE_H
#define HELD_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELD_FILE_BYTES 4096

struct held_file {
	char directory[32];
	int server; /* readable while the kernel asks the server */
	int file;
	void *page; /* mapped from it */
};

static inline void held_file__answer(int server, uint64_t request, int error, const void *answer,
				     size_t length)
{
	const struct fuse_out_header header = {
		.len = sizeof(header) + length,
		.error = error,
		.unique = request,
	};
	const struct iovec parts[] = {
		{ (void *)&header, sizeof(header) },
		{ (void *)answer, length },
	};

	if (writev(server, parts, length ? 2 : 1) < 0)
		perror("held_file: writev");
}

static inline struct fuse_attr held_file__attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = HELD_FILE_BYTES,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644,
		.nlink = 1,
	};
}

/* Serves until the kernel knows that the server wants no FLUSH, for which a close() would wait. */
static inline void *held_file__serve(void *argument)
{
	const int server = *(const int *)argument;
	static char request[1 << 16];
	const struct fuse_in_header *header = (const void *)request;
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = HELD_FILE_BYTES,
	};
	const struct fuse_entry_out entry = {
		.nodeid = 2,
		.attr_valid = 1 << 20,
		.attr = held_file__attributes(2),
	};
	const struct fuse_open_out opened = {};
	struct fuse_attr_out attributes = { .attr_valid = 1 << 20 };
	uint32_t operation = 0;

	while (operation != FUSE_FLUSH && read(server, request, sizeof(request)) > 0) {
		operation = header->opcode;
		if (operation == FUSE_INIT) {
			held_file__answer(server, header->unique, 0, &init, sizeof(init));
		} else if (operation == FUSE_LOOKUP) {
			held_file__answer(server, header->unique, 0, &entry, sizeof(entry));
		} else if (operation == FUSE_GETATTR) {
			attributes.attr = held_file__attributes(header->nodeid);
			held_file__answer(server, header->unique, 0, &attributes,
					  sizeof(attributes));
		} else if (operation == FUSE_OPEN) {
			held_file__answer(server, header->unique, 0, &opened, sizeof(opened));
		} else {
			held_file__answer(server, header->unique, -ENOSYS, NULL, 0);
		}
	}
	return NULL;
}

/* Returns false, and errno: ENODEV, ENOENT if the kernel has no FUSE. */
static inline bool held_file__open(struct held_file *held)
{
	char options[64], path[64];
	pthread_t server;

	*held = (struct held_file){ .directory = "/tmp/held-XXXXXX" };
	held->server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (held->server < 0)
		return false;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0",
		 held->server);
	if (!mkdtemp(held->directory) || mount("held", held->directory, "fuse", 0, options) ||
	    pthread_create(&server, NULL, held_file__serve, &held->server))
		return false;
	snprintf(path, sizeof(path), "%s/file", held->directory);
	held->file = open(path, O_RDONLY | O_CLOEXEC);
	if (held->file < 0)
		return false;
	close(dup(held->file));
	pthread_join(server, NULL);
	held->page = mmap(NULL, HELD_FILE_BYTES, PROT_READ, MAP_PRIVATE, held->file, 0);
	return held->page != MAP_FAILED;
}

/* True if the kernel asks the server within this time. */
static inline bool held_file__is_asked(const struct held_file *held, int ms)
{
	struct pollfd request = { .fd = held->server, .events = POLLIN };

	return poll(&request, 1, ms) == 1;
}

/* True if a process that reads the page asks the server and waits. */
static inline bool held_file__holds(const struct held_file *held)
{
	const pid_t pid = fork();
	bool holds;

	if (!pid) {
		__atomic_load_n((const char *)held->page, __ATOMIC_RELAXED);
		_exit(0);
	}
	holds = pid > 0 && held_file__is_asked(held, 10000) && !waitpid(pid, NULL, WNOHANG);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return holds;
}

/* The server ends: readers have an error. */
static inline void held_file__close(struct held_file *held)
{
	munmap(held->page, HELD_FILE_BYTES);
	close(held->server);
	close(held->file);
	umount2(held->directory, MNT_DETACH);
	rmdir(held->directory);
}

#endif /* HELD_FILE_H */
