// SPDX-License-Identifier: GPL-2.0-only
/* Receives descriptors, and closes them in threads: see passed.h. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/lone_thread.h"
#include "passed.h"

/* SCM_MAX_FD of the kernel: recvmsg(2) would close the descriptors that it has no room for. */
#define RECEIVED_MAX 253
/* Threads, and threads that close descriptors of one user. */
#define THREADS_MAX 128
#define THREADS_PER_USER 4
#define STACK_BYTES (64 << 10)

/* A descriptor that is not closed yet. */
struct waiting {
	TAILQ_ENTRY(waiting) link;
	int fd;
	uid_t uid;
	bool is_closing; /* by a thread */
};

static struct {
	pthread_mutex_t lock;
	TAILQ_HEAD(, waiting) list; /* the oldest first */
	unsigned int threads;
} all = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.list = TAILQ_HEAD_INITIALIZER(all.list),
};

/* ---- threads; the callers of these hold the lock */

static unsigned int count_closing(uid_t uid)
{
	const struct waiting *waiting;
	unsigned int count = 0;

	TAILQ_FOREACH(waiting, &all.list, link)
		count += waiting->is_closing && waiting->uid == uid;
	return count;
}

static struct waiting *next_to_close(void)
{
	struct waiting *waiting;

	TAILQ_FOREACH(waiting, &all.list, link)
		if (!waiting->is_closing && count_closing(waiting->uid) < THREADS_PER_USER)
			return waiting;
	return NULL;
}

static void *close_all(void *argument)
{
	struct waiting *waiting;

	pthread_mutex_lock(&all.lock);
	while ((waiting = next_to_close())) {
		waiting->is_closing = true;
		pthread_mutex_unlock(&all.lock);
		close(waiting->fd);
		pthread_mutex_lock(&all.lock);
		TAILQ_REMOVE(&all.list, waiting, link);
		free(waiting);
	}
	all.threads--;
	pthread_mutex_unlock(&all.lock);
	return NULL;
}

static void start_thread(void)
{
	if (all.threads == THREADS_MAX || !next_to_close())
		return;
	/* Without memory for a thread, the next descriptor tries again. */
	if (!lone_thread__start(close_all, NULL, STACK_BYTES))
		all.threads++;
}

/* ---- closes */

static void close_in_thread(int fd, uid_t uid)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	if (!waiting) {
		close(fd);
		return;
	}
	waiting->fd = fd;
	waiting->uid = uid;
	pthread_mutex_lock(&all.lock);
	TAILQ_INSERT_TAIL(&all.list, waiting, link);
	start_thread();
	pthread_mutex_unlock(&all.lock);
}

/* Is it memory, or an eBPF map?  No question asks the file, whose server might not answer. */
static bool is_quick(int fd)
{
	static const char map[] = "anon_inode:bpf-map";
	char link[32], target[sizeof(map)];
	ssize_t length;

	if (fcntl(fd, F_GET_SEALS) >= 0)
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, target, sizeof(target));
	return length == sizeof(map) - 1 && !memcmp(target, map, length);
}

void passed__close(int fd, uid_t uid)
{
	if (fd < 0)
		return;
	if (is_quick(fd))
		close(fd);
	else
		close_in_thread(fd, uid);
}

void passed__close_socket(int socket, uid_t uid)
{
	int unread = 0;

	/* The peer sends no more from now on, and learns of the end. */
	shutdown(socket, SHUT_RDWR);
	if (!ioctl(socket, FIONREAD, &unread) && !unread)
		close(socket);
	else
		close_in_thread(socket, uid);
}

bool passed__are_many(uid_t uid)
{
	const struct waiting *waiting;
	unsigned int count = 0;

	pthread_mutex_lock(&all.lock);
	TAILQ_FOREACH(waiting, &all.list, link)
		count += waiting->uid == uid;
	pthread_mutex_unlock(&all.lock);
	return count > PASSED_MAX;
}

/* ---- receiving */

ssize_t passed__receive(int socket, void *bytes, size_t length, int *fd, bool *has_more, uid_t uid)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(RECEIVED_MAX * sizeof(int))];
	} control;
	struct iovec vector = { bytes, length };
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *header;
	ssize_t received;
	size_t i, count;
	int other;

	*fd = -1;
	*has_more = false;
	do {
		received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (received < 0 && errno == EINTR);
	if (received < 0)
		return -errno;
	/* Too many files are open: the kernel closed some. */
	*has_more = message.msg_flags & MSG_CTRUNC;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return received;
	count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (i = 0; i < count; i++) {
		memcpy(&other, CMSG_DATA(header) + i * sizeof(other), sizeof(other));
		if (!i)
			*fd = other;
		else
			passed__close(other, uid);
	}
	*has_more |= count > 1;
	return received;
}
