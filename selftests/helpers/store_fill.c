// SPDX-License-Identifier: GPL-2.0-only
/* store_fill FILE: fills the memory of a store, also in huge pages, with random bytes. */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

int main(int argc, char *argv[])
{
	struct stat status;
	uint8_t *memory;
	off_t at;
	int fd;

	if (argc != 2)
		error(2, 0, "usage: store_fill FILE");
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		error(1, errno, "%s", argv[1]);
	memory = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		error(1, errno, "cannot map %s", argv[1]);
	/* Without interruption for 256 bytes, see getrandom(2). */
	for (at = 0; at < status.st_size; at += 256)
		if (getrandom(memory + at, 256, 0) != 256)
			error(1, errno, "getrandom");
	return EXIT_SUCCESS;
}
