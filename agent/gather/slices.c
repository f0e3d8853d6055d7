// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <linux/dart_zero.h>

#include "slices.h"

/* With these seals neither dartd nor the process can make the other one fault. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
/* As DART_ZERO_IOC_ADD_SLICE. */
#define PAGES_MAX 256
/* From the first look at a slice to the second one, and eight times as long to each further one. */
#define DELAY_NS 10000000
#define NS_PER_S 1000000000

static void close_files(const struct slices *slices)
{
	int i;

	for (i = 0; i < SLICES_FILES; i++)
		if (slices->files[i] >= 0)
			close(slices->files[i]);
}

int slices__open(struct slices *slices)
{
	int ret, i;

	*slices = (struct slices){
		.watches = ENTRY_INDEX_OF_NUMBERS,
		.files = {
			[SLICES_INOTIFY] = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
			[SLICES_TIMER] =
				timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
		},
	};
	TAILQ_INIT(&slices->list);
	for (i = 0; i < SLICES_LOOKS; i++)
		TAILQ_INIT(&slices->suspects[i]);
	if (slices->files[SLICES_INOTIFY] >= 0 && slices->files[SLICES_TIMER] >= 0)
		return 0;
	ret = -errno;
	close_files(slices);
	return ret;
}

void slices__close(struct slices *slices)
{
	struct slice *slice;

	while ((slice = TAILQ_FIRST(&slices->list)))
		slices__remove(slices, slice);
	close_files(slices);
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

static void clear(struct slices *slices, struct slice *slice)
{
	if (slice->is_suspect)
		TAILQ_REMOVE(&slices->suspects[slice->looks], slice, suspect);
	slice->is_suspect = false;
}

/* The slice was in use at @looks looks since the last report. */
static void suspect(struct slices *slices, struct slice *slice, uint32_t looks)
{
	clear(slices, slice);
	slice->is_suspect = true;
	slice->looks = looks;
	slice->next_ns = dart_clock__ns(CLOCK_MONOTONIC);
	if (looks)
		slice->next_ns += (uint64_t)DELAY_NS << 3 * (looks - 1);
	TAILQ_INSERT_TAIL(&slices->suspects[looks], slice, suspect);
}

void slices__take_back(struct slices *slices, struct slice *slice)
{
	clear(slices, slice);
	if (slice->is_watched) {
		entry_index__remove(&slices->watches, &slice->watch);
		inotify_rm_watch(slices->files[SLICES_INOTIFY], slice->watch);
	}
	slice->is_watched = false;
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

/* Returns 0 or -errno; -EUSERS: the user of dartd has no more watches. */
static int watch(struct slices *slices, struct slice *slice)
{
	char path[32];
	int wd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", slice->memory);
	wd = inotify_add_watch(slices->files[SLICES_INOTIFY], path, IN_CLOSE);
	if (wd < 0)
		return errno == ENOSPC ? -EUSERS : -errno;
	slice->watch = wd;
	slice->is_watched = !entry_index__add(&slices->watches, &slice->watch);
	if (slice->is_watched)
		return 0;
	inotify_rm_watch(slices->files[SLICES_INOTIFY], wd);
	return -ENOMEM;
}

int slices__lend(struct slices *slices, struct slice *slice, uint32_t id)
{
	int fd = watch(slices, slice);

	if (fd)
		return fd;
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

static void take_event(struct slices *slices, const struct inotify_event *event)
{
	const uint32_t wd = event->wd;
	const char *found;
	struct slice *slice;

	if (event->mask & IN_Q_OVERFLOW) {
		TAILQ_FOREACH(slice, &slices->list, link)
			if (slice->is_watched && !slice->is_gone)
				suspect(slices, slice, 0);
		return;
	}
	found = entry_index__find(&slices->watches, &wd);
	if (!found)
		return;
	slice = (struct slice *)(found - offsetof(struct slice, watch));
	if (!slice->is_gone)
		suspect(slices, slice, 0);
}

/* Reads the reports that wait, of which one of several users of a slice may be the cause. */
static void read_reports(struct slices *slices)
{
	char bytes[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *event;
	ssize_t length, at;

	while ((length = read(slices->files[SLICES_INOTIFY], bytes, sizeof(bytes))) > 0)
		for (at = 0; at < length; at += sizeof(*event) + event->len) {
			event = (const void *)(bytes + at);
			take_event(slices, event);
		}
}

/* The suspect to look at next, or NULL. */
static struct slice *next_suspect(const struct slices *slices)
{
	struct slice *slice, *next = NULL;
	int i;

	for (i = 0; i < SLICES_LOOKS; i++) {
		slice = TAILQ_FIRST(&slices->suspects[i]);
		if (slice && (!next || slice->next_ns < next->next_ns))
			next = slice;
	}
	return next;
}

static void set_timer(struct slices *slices, uint64_t time_ns)
{
	const struct itimerspec timer = {
		.it_value = { time_ns / NS_PER_S, time_ns % NS_PER_S },
	};

	if (slices->timer_ns == time_ns)
		return;
	slices->timer_ns = time_ns;
	timerfd_settime(slices->files[SLICES_TIMER], TFD_TIMER_ABSTIME, &timer, NULL);
}

uint32_t slices__next_gone(struct slices *slices)
{
	const uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	struct slice *slice;

	read_reports(slices);
	while ((slice = next_suspect(slices)) && (!slice->looks || slice->next_ns <= now)) {
		clear(slices, slice);
		if (!has_other_users(slice)) {
			slice->is_gone = true;
			return slice->id;
		}
		if (slice->looks + 1 < SLICES_LOOKS)
			suspect(slices, slice, slice->looks + 1);
	}
	/* This clears an expiration, too. */
	set_timer(slices, slice ? slice->next_ns : 0);
	return 0;
}
