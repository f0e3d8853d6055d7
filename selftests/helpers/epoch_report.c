// SPDX-License-Identifier: GPL-2.0-only
/*
 * epoch_report FILE SLOTS_LOG2 COUNT MARK: writes what COUNT reports would write into the present
 * epoch of a store, whose memory is FILE, with values of 20 bytes, checksums of 32 bits and two
 * copies: the path MARK, 0, 0, 0, 0 for TCP from 10.0.0.1, port 0 to COUNT - 1, to 10.0.0.2, port
 * 80.  Prints when the epoch began, or fails if another one began meanwhile.
 */
#include <endian.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <dart/epoch.h>
#include <libdart/store/store_query.h>

static void report(struct dart_store *store, uint32_t count, uint32_t mark)
{
	uint8_t key[13] = { 10, 0, 0, 1, 10, 0, 0, 2, 0, 0, 0, 80, 6 };
	const uint32_t value[5] = { htobe32(mark) };
	uint32_t i, copy;

	for (i = 0; i < count; i++) {
		key[8] = i >> 8;
		key[9] = i;
		for (copy = 0; copy < 2; copy++)
			dart_store__write(store, key, sizeof(key), copy, value);
	}
}

int main(int argc, char *argv[])
{
	struct dart_store_geometry geometry = {
		.value_length = 20,
		.checksum_bits = 32,
		.redundancy = 2,
	};
	const struct dart_epoch_memory *epochs;
	struct dart_store *store;
	struct stat status;
	uint64_t since_ns;
	uint8_t *memory;
	uint32_t bank;
	size_t length;
	int fd;

	if (argc != 5)
		error(2, 0, "usage: epoch_report FILE SLOTS_LOG2 COUNT MARK");
	geometry.slots = UINT64_C(1) << atoi(argv[2]);
	length = dart_store_geometry__length(&geometry);
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		error(1, errno, "%s", argv[1]);
	if ((uint64_t)status.st_size < DART_EPOCH_MEMORY_LENGTH(length))
		error(1, 0, "%s is no memory of epochs", argv[1]);
	memory = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		error(1, errno, "cannot map %s", argv[1]);
	epochs = (void *)(memory + DART_EPOCH_BANKS * DART_EPOCH_STRIDE(length));
	bank = epochs->current;
	since_ns = epochs->banks[bank].since_ns;
	if (dart_store__new(&geometry, memory + bank * DART_EPOCH_STRIDE(length), &store))
		error(1, 0, "there is no such store");
	report(store, atoi(argv[3]), atoi(argv[4]));
	if (epochs->current != bank || epochs->banks[bank].since_ns != since_ns)
		error(1, 0, "another epoch began meanwhile");
	printf("%" PRIu64 "\n", since_ns);
	return EXIT_SUCCESS;
}
