/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process whose ELF header lies on a page that its userfaultfd never provides: a reader waits
 * until the process ends.  Any user can start such a process.
 */
#ifndef HELD_HEADER_H
#define HELD_HEADER_H

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns a descriptor for held_header__hold(), or -1: only root may hold kernels. */
static inline int held_header__open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	const int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Takes the page of the ELF header away.  The dynamic linker looks for functions there, so after
 * this the process calls none that it has not called before; or only syscall().  A reader that
 * comes between the first two calls gets a page of zeros, which the last call removes.
 */
static inline bool held_header__hold(int fd)
{
	const uint64_t page = sysconf(_SC_PAGESIZE), start = getauxval(AT_PHDR) / page * page;
	struct uffdio_register wanted = {
		.range = { .start = start, .len = page },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	return syscall(SYS_mmap, start, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		       -1, 0) == (long)start &&
	       !syscall(SYS_ioctl, fd, UFFDIO_REGISTER, &wanted) &&
	       !syscall(SYS_madvise, start, page, MADV_DONTNEED);
}

/* The rest of the life of the process. */
static inline void held_header__wait(void)
{
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

#endif /* HELD_HEADER_H */
