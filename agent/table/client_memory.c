// SPDX-License-Identifier: GPL-2.0-only
/* Checks and maps memory of clients, and notices the end of their processes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <dart/registration.h>

#include "agent/base/host.h"
#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "client_memory_kept.h"
#include "client_memory.h"

/* Ids from here on: the region counts its own from 1. */
#define FIRST_ID (UINT32_C(1) << 31)

/* Without these seals a client could cut the memfd off: READs would fault, or show old bytes. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
/* us from the report of a close to the checks: 10 ms, 80 ms, 640 ms, 5 s. */
#define DELAY_MIN_US 10000
#define DELAY_MAX_US 6000000

/* Seals of the memory that dartd lends on the way of programs, and of no memory of a client. */
#define LENT_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static uint64_t bytes_of(const struct client_memory *memory)
{
	return memory->pages * (uint64_t)memory->memories->region->page_size;
}

static void *place_of(const struct client_memory *memory)
{
	return (uint8_t *)memory->memories->region->memory + memory->data;
}

bool client_memory__is(int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && seals != LENT_SEALS;
}

/* Checks that nothing but its size bounds the reading of @fd, and fills @status. */
static int check_file(const struct client_memories *memories, int fd, struct stat *status,
		      struct dart_error *error)
{
	const int wanted = SEALS | (memories->needs_writable ? 0 : F_SEAL_FUTURE_WRITE);
	const int seals = fcntl(fd, F_GET_SEALS);
	const uint32_t page = memories->region->page_size;
	struct statfs filesystem;

	/* The process gets a descriptor that can be read. */
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
		return dart_error__set(error, EINVAL,
				       "the descriptor of this memory is not open for reading");
	if (seals < 0 || (seals & wanted) != wanted)
		return dart_error__set(
			error, EINVAL,
			"this memfd is not sealed (add F_SEAL_SHRINK, F_SEAL_GROW%s)",
			memories->needs_writable ? "" : " and F_SEAL_FUTURE_WRITE");
	if (memories->needs_writable && seals & F_SEAL_FUTURE_WRITE)
		return dart_error__set(
			error, EINVAL,
			"Linux before 6.2 cannot show read-only memory to adapters (leave the seal F_SEAL_FUTURE_WRITE out)");
	if (fstatfs(fd, &filesystem) || filesystem.f_type != TMPFS_MAGIC || fstat(fd, status))
		return dart_error__set(
			error, EINVAL,
			"this memfd is of huge pages (create it without MFD_HUGETLB)");
	if (status->st_size && status->st_size % page == 0 &&
	    status->st_size / page <= DART_REGISTRATION_MEMORY_PAGES_MAX)
		return 0;
	return dart_error__set(error, EINVAL,
			       "%lld bytes of memory are not 1 to %d whole pages of %u bytes",
			       (long long)status->st_size, DART_REGISTRATION_MEMORY_PAGES_MAX,
			       page);
}

/* Opens the file again: locks belong to open files. */
static int reopen(int fd, int flags)
{
	char path[32];
	int opened;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	opened = open(path, O_CLOEXEC | flags);
	return opened < 0 ? -errno : opened;
}

/* Opens the descriptor that proves that a process uses the memory. */
static int open_proof(int fd)
{
	int proof = reopen(fd, O_RDONLY), ret;

	if (proof < 0 || !flock(proof, LOCK_SH | LOCK_NB))
		return proof;
	ret = -errno;
	close(proof);
	return ret;
}

/* Does a process hold the descriptor that proves its use? */
static bool is_locked(const struct client_memory *memory)
{
	return flock(memory->fd, LOCK_EX | LOCK_NB);
}

static struct client_memory *find_inode(const struct client_memories *memories, uint64_t inode)
{
	struct client_memory *memory;

	TAILQ_FOREACH(memory, &memories->list, link)
		if (memory->inode == inode)
			return memory;
	return NULL;
}

/* Chooses the first free addresses from @wanted on, or else the first. */
static int choose_place(struct client_memories *memories, struct client_memory *memory,
			uint64_t wanted)
{
	const uint64_t first = memories->region->capacity, end = first + REGION_CLIENT_BYTES;
	const uint64_t bytes = bytes_of(memory);
	struct client_memory *next;

	memory->data = wanted >= first && wanted < end ? wanted : first;
	TAILQ_FOREACH(next, &memories->list, link) {
		if (next->data + bytes_of(next) <= memory->data)
			continue;
		if (next->data - memory->data >= bytes && next->data > memory->data)
			break;
		memory->data = next->data + bytes_of(next);
	}
	if (memory->data > end || end - memory->data < bytes)
		return wanted > first ? choose_place(memories, memory, first) : -ENOSPC;
	if (next)
		TAILQ_INSERT_BEFORE(next, memory, link);
	else
		TAILQ_INSERT_TAIL(&memories->list, memory, link);
	return 0;
}

static int map(const struct client_memory *memory)
{
	const int access = PROT_READ | (memory->memories->needs_writable ? PROT_WRITE : 0);

	return mmap(place_of(memory), bytes_of(memory), access, MAP_SHARED | MAP_FIXED, memory->fd,
		    0) == MAP_FAILED ?
		       -errno :
		       0;
}

static void unmap(const struct client_memory *memory)
{
	if (mmap(place_of(memory), bytes_of(memory), PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		log__error("cannot unmap memory of a client: %s", strerror(errno));
}

/* Maps @memory->fd, whose file was checked, at @wanted or elsewhere. */
static int show(struct client_memories *memories, struct client_memory *memory, uint64_t wanted,
		struct dart_error *error)
{
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory->fd);
	memory->watch = inotify_add_watch(memories->inotify, path, IN_CLOSE);
	if (memory->watch < 0)
		return dart_error__system(error, errno, "cannot watch this memory");
	/* After the watch began, so that no end is missed. */
	if (!is_locked(memory)) {
		ret = dart_error__set(error, EINVAL, "no process uses this memory any more");
		goto unwatch;
	}
	ret = choose_place(memories, memory, wanted);
	if (ret) {
		dart_error__set(
			error, ENOSPC,
			"all addresses for memory of clients are in use (end some of them)");
		goto unwatch;
	}
	ret = map(memory);
	if (!ret)
		return 0;
	dart_error__system(error, -ret, "cannot map this memory");
	TAILQ_REMOVE(&memories->list, memory, link);
unwatch:
	inotify_rm_watch(memories->inotify, memory->watch);
	return ret;
}

/* Takes @fd over, an open file of dartd with this @status, even on error. */
static int add(struct client_memories *memories, int fd, const struct stat *status, uint64_t wanted,
	       struct client_memory **result, struct dart_error *error)
{
	struct client_memory *memory = calloc(1, sizeof(*memory));
	int ret;

	if (!memory) {
		ret = dart_error__no_memory(error);
		goto free_memory;
	}
	memory->memories = memories;
	memory->fd = fd;
	memory->notes = -1;
	memory->creator = status->st_uid;
	memory->inode = status->st_ino;
	memory->pages = status->st_size / memories->region->page_size;
	ret = show(memories, memory, wanted, error);
	if (ret)
		goto free_memory;
	memory->id = FIRST_ID + memories->last_id++ % FIRST_ID;
	*result = memory;
	return 0;

free_memory:
	free(memory);
	close(fd);
	return ret;
}

struct client_memory *client_memory__find(const struct client_memories *memories, int fd)
{
	struct stat status;

	return fstat(fd, &status) ? NULL : find_inode(memories, status.st_ino);
}

int client_memory__add(struct client_memories *memories, int fd, struct client_memory **result,
		       int *proof, struct dart_error *error)
{
	struct stat status;
	int ret, own;

	*proof = -1;
	ret = check_file(memories, fd, &status, error);
	if (ret)
		return ret;
	*result = find_inode(memories, status.st_ino);
	if (*result)
		return (*result)->is_gone ?
			       dart_error__set(
				       error, EBUSY,
				       "the slices of this memory have ended (create another)") :
			       -EEXIST;
	own = reopen(fd, memories->needs_writable ? O_RDWR : O_RDONLY);
	if (own < 0)
		return dart_error__system(error, -own, "cannot open this memory");
	*proof = open_proof(fd);
	if (*proof < 0) {
		close(own);
		return dart_error__system(error, -*proof, "cannot lock this memory");
	}
	ret = add(memories, own, &status, 0, result, error);
	if (!ret)
		return 0;
	close(*proof);
	*proof = -1;
	return ret;
}

int client_memory__restore(struct client_memories *memories, const char *name,
			   struct client_memory **result)
{
	const int kept = fd_store__get(memories->kept, name);
	struct dart_error error;
	struct stat status;
	uint64_t data;
	int ret, own;

	own = fcntl(kept, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		ret = dart_error__system(&error, errno, "cannot use its descriptor");
	else if (!client_kept__parse(name, &data))
		ret = dart_error__set(&error, EINVAL, "no dartd gave it this name");
	else
		ret = check_file(memories, own, &status, &error);
	if (!ret)
		ret = add(memories, own, &status, data, result, &error);
	else if (own >= 0)
		close(own);
	if (!ret) {
		client_kept__resume(*result, name);
		return 0;
	}
	log__info("dropped the kept memory '%s': %s", name, error.text);
	client_kept__drop(memories, name);
	return ret;
}

void client_memory__remove(struct client_memory *memory)
{
	struct client_memories *memories = memory->memories;

	if (!memories->is_ending)
		client_kept__forget(memory);
	if (memory->notes >= 0)
		close(memory->notes);
	inotify_rm_watch(memories->inotify, memory->watch);
	TAILQ_REMOVE(&memories->list, memory, link);
	unmap(memory);
	close(memory->fd);
	free(memory);
}

static void check(struct client_memory *memory)
{
	struct client_memories *memories = memory->memories;

	memory->is_closing = is_locked(memory);
	if (memory->is_gone || memory->is_closing)
		return;
	memory->is_gone = true;
	memories->on_gone(memories->owner, memory->id);
}

/* A file of the memory with this watch was closed; with -1: of any memory. */
static void check_watch(struct client_memories *memories, int watch)
{
	struct client_memory *memory, *next;

	for (memory = TAILQ_FIRST(&memories->list); memory; memory = next) {
		next = TAILQ_NEXT(memory, link);
		if (watch < 0 || memory->watch == watch)
			check(memory);
	}
	/*
	 * The kernel drops a lock after it has reported the close.  A client that closes files all
	 * the time does not put the checks off.
	 */
	if (memories->delay)
		return;
	memories->delay = DELAY_MIN_US;
	loop_timer__start(memories->later, memories->delay);
}

/* Checks memories again whose lock was left, after ever longer times. */
static int on_later(sd_event_source *source, uint64_t now, void *userdata)
{
	struct client_memories *memories = userdata;
	struct client_memory *memory, *next;
	bool is_left = false;

	memories->delay *= 8;
	for (memory = TAILQ_FIRST(&memories->list); memory; memory = next) {
		next = TAILQ_NEXT(memory, link);
		if (!memory->is_closing)
			continue;
		check(memory);
		/* Then another process holds the lock. */
		if (memories->delay > DELAY_MAX_US)
			memory->is_closing = false;
		is_left |= memory->is_closing;
	}
	if (!is_left || memories->delay > DELAY_MAX_US)
		memories->delay = 0;
	else
		loop_timer__start(memories->later, memories->delay);
	return 0;
}

static int on_closed(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	_Alignas(struct inotify_event) char events[4096];
	struct client_memories *memories = userdata;
	const struct inotify_event *event;
	ssize_t length, at;

	length = read(fd, events, sizeof(events));
	for (at = 0; at < length; at += sizeof(*event) + event->len) {
		event = (const struct inotify_event *)(events + at);
		if (event->mask & IN_Q_OVERFLOW)
			check_watch(memories, -1);
		else if (event->mask & IN_CLOSE)
			check_watch(memories, event->wd);
	}
	return 0;
}

int client_memories__open(struct client_memories *memories, const struct region *region,
			  struct fd_store *kept, uint64_t base, sd_event *loop,
			  client_memory_gone *on_gone, void *owner, struct dart_error *error)
{
	int ret;

	*memories = (struct client_memories){
		.region = region,
		.kept = kept,
		.base = base,
		.on_gone = on_gone,
		.owner = owner,
		.inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
		.needs_writable = !host__can_pin_read_only(),
	};
	TAILQ_INIT(&memories->list);
	if (memories->inotify < 0)
		return dart_error__system(error, errno, "cannot watch memory of clients");
	ret = sd_event_add_io(loop, &memories->closed, memories->inotify, EPOLLIN, on_closed,
			      memories);
	if (ret >= 0)
		ret = loop_timer__add(loop, &memories->later, CLOCK_MONOTONIC, on_later, memories);
	if (ret >= 0)
		return 0;
	client_memories__close(memories);
	return dart_error__system(error, -ret, "cannot create an event source");
}

void client_memories__end(struct client_memories *memories)
{
	memories->is_ending = true;
}

void client_memories__close(struct client_memories *memories)
{
	sd_event_source_disable_unref(memories->later);
	sd_event_source_disable_unref(memories->closed);
	close(memories->inotify);
}
