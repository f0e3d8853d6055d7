// SPDX-License-Identifier: GPL-2.0-only
/* Allocates memory for the network, or maps its file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/base/long_work.h"
#include "remote_memory.h"

#define MIB (UINT64_C(1) << 20)
#define STEP (256 * MIB)

/* Linux 6.3 and later log a warning without this flag. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

/* No descriptor can change the size, and none can add further seals. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static uint64_t round_up(uint64_t length, uint64_t page)
{
	return (length + page - 1) / page * page;
}

/* Returns the bytes of @name in /proc/meminfo, or 0 if it is not listed. */
static uint64_t meminfo(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib = 0, value;
	char line[128], found[64];

	while (file && !kib && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63[^:]: %" SCNu64, found, &value) == 2 && !strcmp(found, name))
			kib = value;
	if (file)
		fclose(file);
	return kib * 1024;
}

/* Leaves 1/16, because taking all available memory wakes the OOM killer. */
static int check_available(const char *noun, uint64_t length, struct dart_error *error)
{
	uint64_t available = meminfo("MemAvailable");

	available -= available / 16;
	if (length > available)
		return dart_error__set(error, ENOMEM,
				       "the %s needs %" PRIu64 " MiB of memory; only %" PRIu64
				       " MiB are available",
				       noun, (length + MIB - 1) / MIB, available / MIB);
	return 0;
}

static int create_memfd(const char *noun, unsigned int flags)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "dart-%s", noun);
	fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL | flags);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
	return fd;
}

/* Makes pages present, in steps, without SIGBUS on failure. */
static int populate(uint8_t *address, size_t length)
{
	struct long_work work = { };
	size_t done, step;
	int ret = 0;

	for (done = 0; !ret && done < length; done += step) {
		long_work__go_on(&work);
		step = length - done < STEP ? length - done : STEP;
		ret = madvise(address + done, step, MADV_POPULATE_WRITE);
	}
	return ret;
}

static int remote_memory__fill(struct remote_memory *memory, struct dart_error *error)
{
	int code;

	/* Only advice: smaller pages will do. */
	madvise(memory->address, memory->mapped, MADV_HUGEPAGE);
	if (!populate(memory->address, memory->mapped))
		return 0;
	/* EFAULT: the file system is too full for the size of the file. */
	code = errno == EFAULT ? ENOSPC : errno;
	return dart_error__system(error, code, "cannot allocate %zu MiB of memory",
				  (size_t)(memory->mapped / MIB));
}

/* Maps and fills @memory->fd, a file of @mapped bytes. */
static int remote_memory__map(struct remote_memory *memory, struct dart_error *error)
{
	int ret;

	memory->address = mmap(NULL, memory->mapped, PROT_READ | PROT_WRITE,
			       MAP_SHARED, memory->fd, 0);
	if (memory->address == MAP_FAILED && memory->is_huge && errno == ENOMEM)
		return dart_error__set(
			error, ENOMEM,
			"%zu MiB of huge pages are not free (raise /proc/sys/vm/nr_hugepages)",
			(size_t)(memory->mapped / MIB));
	if (memory->address == MAP_FAILED)
		return dart_error__system(error, errno, "cannot map the %s", memory->noun);
	ret = remote_memory__fill(memory, error);
	if (ret)
		munmap(memory->address, memory->mapped);
	return ret;
}

/*
 * The mode lets holders of a descriptor for reading open it again for reading
 * only.  A seal against writing would keep the next dartd from mapping it, too.
 */
static int remote_memory__seal(struct remote_memory *memory, struct dart_error *error)
{
	if (fchmod(memory->fd, 0444) || fcntl(memory->fd, F_ADD_SEALS, SEALS))
		return dart_error__system(error, errno, "cannot seal the memory");
	return 0;
}

static int remote_memory__allocate(struct remote_memory *memory, unsigned int flags, uint64_t page,
				   struct dart_error *error)
{
	int ret;

	memory->mapped = round_up(memory->length, page);
	memory->is_huge = flags & MFD_HUGETLB;
	memory->fd = create_memfd(memory->noun, flags);
	if (memory->fd < 0)
		return dart_error__system(error, errno, "cannot create memory");
	if (ftruncate(memory->fd, memory->mapped))
		ret = dart_error__system(error, errno, "cannot allocate %zu MiB of memory",
					 (size_t)(memory->mapped / MIB));
	else
		ret = remote_memory__map(memory, error);
	if (!ret) {
		ret = remote_memory__seal(memory, error);
		if (ret)
			munmap(memory->address, memory->mapped);
	}
	if (ret)
		close(memory->fd);
	return ret;
}

/* Allocates anonymous memory: huge pages if enough of them are reserved. */
static int remote_memory__create(struct remote_memory *memory, struct dart_error *error)
{
	uint64_t huge = meminfo("Hugepagesize");
	int ret;

	if (huge && memory->length >= huge &&
	    !remote_memory__allocate(memory, MFD_HUGETLB, huge, error))
		return 0;
	ret = check_available(memory->noun, memory->length, error);
	if (ret)
		return ret;
	return remote_memory__allocate(memory, 0, sysconf(_SC_PAGESIZE), error);
}

/* Checks that pages of this file system can stay pinned. */
static int check_file_system(const char *noun, int file,
			     struct statfs *system, struct dart_error *error)
{
	if (fstatfs(file, system))
		return dart_error__system(error, errno, "cannot examine the file");
	if (system->f_type != TMPFS_MAGIC && system->f_type != HUGETLBFS_MAGIC)
		return dart_error__set(
			error, EOPNOTSUPP,
			"a %s can only be in a file on tmpfs or hugetlbfs: pages of a disk cannot stay in memory (try one in /dev/shm)",
			noun);
	return 0;
}

static int check_size(const struct remote_memory *memory,
		      const struct stat *status, struct dart_error *error)
{
	if (!S_ISREG(status->st_mode))
		return dart_error__set(error, EINVAL, "it is not a regular file");
	if (status->st_size && (uint64_t)status->st_size != memory->mapped)
		return dart_error__set(
			error, EINVAL,
			"the file has %jd bytes, but the %s needs %zu (give an empty file or another one)",
			(intmax_t)status->st_size, memory->noun, memory->mapped);
	return 0;
}

/* Checks that there is room for the missing blocks of the file. */
static int check_room(const struct remote_memory *memory, const struct stat *status,
		      const struct statfs *system, struct dart_error *error)
{
	uint64_t present = (uint64_t)status->st_blocks * 512;
	uint64_t missing = present < memory->mapped ? memory->mapped - present : 0;
	uint64_t room = (uint64_t)system->f_bavail * system->f_bsize;

	/* A file system without blocks sets no limit. */
	if (system->f_blocks && missing > room)
		return dart_error__set(error, ENOSPC,
				       "the %s needs %" PRIu64
				       " MiB of the file system; only %" PRIu64 " MiB are free",
				       memory->noun, (missing + MIB - 1) / MIB, room / MIB);
	return memory->is_huge ? 0 : check_available(memory->noun, missing, error);
}

static int remote_memory__use(struct remote_memory *memory, int file, struct dart_error *error)
{
	struct statfs system;
	struct stat status;
	int ret;

	ret = check_file_system(memory->noun, file, &system, error);
	if (ret)
		return ret;
	memory->is_huge = system.f_type == HUGETLBFS_MAGIC;
	memory->mapped = round_up(memory->length, system.f_bsize);
	if (fstat(file, &status))
		return dart_error__system(error, errno, "cannot examine the file");
	memory->has_contents = status.st_size;
	ret = check_size(memory, &status, error) ?: check_room(memory, &status, &system, error);
	if (ret)
		return ret;

	/* Held until the last descriptor of this open file is closed. */
	if (flock(file, LOCK_EX | LOCK_NB))
		return dart_error__set(error, errno == EWOULDBLOCK ? EBUSY : errno,
				       "the file is in use, perhaps by another %s", memory->noun);
	memory->fd = fcntl(file, F_DUPFD_CLOEXEC, 0);
	if (memory->fd < 0)
		return dart_error__system(error, errno, "cannot duplicate the descriptor");
	if (ftruncate(memory->fd, memory->mapped))
		ret = dart_error__system(error, errno, "cannot set the size of the file");
	else
		ret = remote_memory__map(memory, error);
	if (!ret)
		return 0;
	if (!status.st_size && ftruncate(memory->fd, 0))
		dart_error__set(error, -ret, "%s, and the file keeps its size", strerror(-ret));
	close(memory->fd);
	return ret;
}

int remote_memory__open(struct remote_memory *memory, const char *noun,
			uint64_t length, int file, struct dart_error *error)
{
	*memory = (struct remote_memory){ .noun = noun, .length = length };
	return file < 0 ? remote_memory__create(memory, error) :
			  remote_memory__use(memory, file, error);
}

/* Is it open for reading and writing, and sealed as remote_memory__seal() does? */
static int check_seals(const char *noun, int kept, struct dart_error *error)
{
	int seals = fcntl(kept, F_GET_SEALS), flags = fcntl(kept, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) != O_RDWR)
		return dart_error__set(error, EACCES, "it is not open for writing");
	if (seals < 0 || (seals & SEALS) != SEALS || seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return dart_error__set(error, EINVAL, "it is not the memory of a %s", noun);
	return 0;
}

int remote_memory__check_kept(const char *noun, uint64_t length, int kept, struct dart_error *error)
{
	struct statfs system;
	struct stat status;
	uint64_t size;
	int ret;

	ret = check_file_system(noun, kept, &system, error) ?: check_seals(noun, kept, error);
	if (ret)
		return ret;
	if (fstat(kept, &status))
		return dart_error__system(error, errno, "cannot examine it");
	size = round_up(length, system.f_bsize);
	if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size != size)
		return dart_error__set(error, EINVAL, "it has %jd bytes instead of %" PRIu64,
				       (intmax_t)status.st_size, size);
	return 0;
}

int remote_memory__resume(struct remote_memory *memory, const char *noun,
			  uint64_t length, int kept, struct dart_error *error)
{
	struct statfs system;
	int ret;

	*memory = (struct remote_memory){
		.noun = noun,
		.length = length,
		.has_contents = true,
	};
	if (fstatfs(kept, &system))
		return dart_error__system(error, errno, "cannot examine the memory");
	memory->is_huge = system.f_type == HUGETLBFS_MAGIC;
	memory->mapped = round_up(length, system.f_bsize);
	memory->fd = fcntl(kept, F_DUPFD_CLOEXEC, 0);
	if (memory->fd < 0)
		return dart_error__system(error, errno, "cannot duplicate the descriptor");
	ret = remote_memory__map(memory, error);
	if (ret)
		close(memory->fd);
	return ret;
}

void remote_memory__close(struct remote_memory *memory)
{
	munmap(memory->address, memory->mapped);
	close(memory->fd);
}

int remote_memory__reopen(const struct remote_memory *memory, const char *name,
			  struct dart_error *error)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open '%s' for reading", name);
	return fd;
}
