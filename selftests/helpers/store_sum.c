// SPDX-License-Identifier: GPL-2.0-only
/*
 * store_sum FILE OFFSET BYTES: waits until the store in FILE contains BYTES
 * (hexadecimal digits) at OFFSET, and prints a checksum of all other bytes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include <dart/store.h>

#define WAIT_MAX	60	/* seconds */

/* RDMA WRITEs are not announced: polls the memory. */
static int wait_for(const uint8_t *at, const uint8_t *bytes, size_t length)
{
	const time_t end = time(NULL) + WAIT_MAX;

	while (memcmp(at, bytes, length)) {
		if (time(NULL) > end)
			return -1;
		sched_yield();
	}
	return 0;
}

int main(int argc, char *argv[])
{
	uint8_t bytes[DART_STORE_SLOT_MAX];
	uint64_t hash, rest;
	struct stat status;
	const uint8_t *memory;
	size_t offset, length, i;
	unsigned int byte;
	int fd;

	if (argc != 4)
		return EXIT_FAILURE;
	offset = strtoul(argv[2], NULL, 10);
	length = strlen(argv[3]) / 2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) || length > sizeof(bytes) ||
	    offset + length > (size_t)status.st_size)
		return EXIT_FAILURE;
	for (i = 0; i < length; i++) {
		sscanf(argv[3] + 2 * i, "%2x", &byte);
		bytes[i] = byte;
	}
	memory = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return EXIT_FAILURE;
	if (wait_for(memory + offset, bytes, length)) {
		fprintf(stderr, "store_sum: the bytes have not arrived\n");
		return EXIT_FAILURE;
	}
	hash = XXH3_64bits(memory, offset);
	rest = XXH3_64bits(memory + offset + length, status.st_size - offset - length);
	printf("%016" PRIx64 "%016" PRIx64 "\n", hash, rest);
	return EXIT_SUCCESS;
}
