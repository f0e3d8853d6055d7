/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of a storm on the address space of the process. */
#ifndef DART_TEST_STORM_MAPPINGS_H
#define DART_TEST_STORM_MAPPINGS_H

struct storm;

void storm__mmap(struct storm *storm);
void storm__refused_mmap(struct storm *storm);
void storm__munmap(struct storm *storm);
void storm__mprotect(struct storm *storm);
void storm__mremap(struct storm *storm);
void storm__mremap_shrink(struct storm *storm);
void storm__refused_mremap(struct storm *storm);
void storm__madvise(struct storm *storm);
void storm__memory_file(struct storm *storm);

#endif /* DART_TEST_STORM_MAPPINGS_H */
