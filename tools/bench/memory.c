// SPDX-License-Identifier: GPL-2.0-only
/* Allocates large populated memory, if possible in huge pages. */
#include "memory.h"

#include <stdio.h>
#include <sys/mman.h>

void *memory__new(size_t length, bool is_huge)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	/* May fail, e.g. without CONFIG_TRANSPARENT_HUGEPAGE: continue. */
	madvise(memory, length, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (!madvise(memory, length, MADV_POPULATE_WRITE))
		return memory;
	munmap(memory, length);
	return NULL;
}

void memory__free(void *memory, size_t length)
{
	if (memory)
		munmap(memory, length);
}

/* The kernel may merge the mapping with an adjacent one. */
size_t memory__huge(const void *memory)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long start, end, kib = 0;
	bool is_here = false;
	char line[256];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_here = (uintptr_t)memory >= start && (uintptr_t)memory < end;
		else if (is_here && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
			break;
	}
	fclose(file);
	return (size_t)kib << 10;
}

uint64_t memory__available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long kib = 0;
	char line[256];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %lu kB", &kib) == 1)
			break;
	fclose(file);
	return (uint64_t)kib << 10;
}
