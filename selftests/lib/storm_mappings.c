// SPDX-License-Identifier: GPL-2.0-only
/* Operations of a storm on the address space of the process. */
#include "storm_mappings.h"

#include "device.h"
#include "storm.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

/* Numbers of calls that some kernels lack. */
#define ANY_ERROR -1

void storm__mmap(struct storm *storm)
{
	struct run run = storm__draw_run(storm, 32);

	storm__map_pages(storm, run, storm__draw(storm, WORLD_REGION_PAGES - 32));
}

void storm__refused_mmap(struct storm *storm)
{
	const off_t end = device_info(storm->world->region).capacity;
	const struct {
		int protection, flags, code;
		off_t offset;
	} refused[] = {
		{ PROT_READ, MAP_PRIVATE, EINVAL, 0 },
		{ PROT_READ | PROT_WRITE, MAP_SHARED, EPERM, 0 },
		{ PROT_READ | PROT_EXEC, MAP_SHARED, EPERM, 0 },
		{ PROT_READ, MAP_SHARED, EINVAL, end },
		{ PROT_READ, MAP_SHARED, EINVAL, end - WORLD_PAGE },
	};
	uint32_t i = storm__draw(storm, sizeof(refused) / sizeof(refused[0]));

	assert_ptr_equal(mmap(NULL, 2 * WORLD_PAGE, refused[i].protection,
			      refused[i].flags, storm->world->region,
			      refused[i].offset), MAP_FAILED);
	assert_int_equal(errno, refused[i].code);
}

void storm__munmap(struct storm *storm)
{
	struct run run = storm__draw_run(storm, 16);

	assert_int_equal(munmap(storm__at(storm, run.first), (size_t)run.count * WORLD_PAGE), 0);
	world__reserve(storm->world, run.first, run.count);
}

void storm__mprotect(struct storm *storm)
{
	static const int refused[] = {
		PROT_READ | PROT_WRITE, PROT_WRITE, PROT_READ | PROT_EXEC,
	};
	struct run run = storm__draw_mapped(storm, 16);
	size_t length = (size_t)run.count * WORLD_PAGE;
	bool is_readable = storm__draw(storm, 3);

	if (!run.count)
		return;
	if (!storm__draw(storm, 4)) {
		assert_int_equal(mprotect(storm__at(storm, run.first), length,
					  refused[storm__draw(storm, 3)]), -1);
		assert_int_equal(errno, EACCES);
		return;
	}
	assert_int_equal(mprotect(storm__at(storm, run.first), length,
				  is_readable ? PROT_READ : PROT_NONE), 0);
	for (int i = 0; i < run.count; i++)
		storm->world->pages[run.first + i].is_readable = is_readable;
	storm__cut(storm, run);
}

/* Moves a run; the move may fail if the run consists of several mappings for the kernel. */
void storm__mremap(struct storm *storm)
{
	struct world_page *pages = storm->world->pages;
	struct run run = storm__draw_mapped(storm, 16);
	size_t length = (size_t)run.count * WORLD_PAGE;
	struct run target = { .count = run.count };
	void *moved;

	if (!run.count)
		return;
	target.first = storm__draw(storm, WORLD_ARENA_PAGES - run.count + 1);
	if (target.first < run.first + run.count && run.first < target.first + run.count)
		return;

	/* A refused call may unmap the target before it fails. */
	world__reserve(storm->world, target.first, target.count);
	moved = mremap(storm__at(storm, run.first), length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
		       storm__at(storm, target.first));
	if (moved == MAP_FAILED) {
		assert_int_equal(errno, EFAULT);
		assert_true(storm__is_cut_inside(storm, run));
		world__reserve(storm->world, target.first, target.count);
		return;
	}
	assert_ptr_equal(moved, storm__at(storm, target.first));
	memcpy(&pages[target.first], &pages[run.first], run.count * sizeof(pages[0]));
	storm__cut(storm, target);
	world__reserve(storm->world, run.first, run.count);
}

void storm__mremap_shrink(struct storm *storm)
{
	struct run run = storm__draw_mapped(storm, 16);
	int keep = 1 + storm__draw(storm, 16);

	if (keep >= run.count)
		return;
	if (mremap(storm__at(storm, run.first), (size_t)run.count * WORLD_PAGE,
		   (size_t)keep * WORLD_PAGE, 0) == MAP_FAILED) {
		assert_int_equal(errno, EFAULT);
		assert_true(storm__is_cut_inside(storm, run));
		return;
	}
	world__reserve(storm->world, run.first + keep, run.count - keep);
}

void storm__refused_mremap(struct storm *storm)
{
	struct run run = storm__draw_mapped(storm, 16);
	size_t length = (size_t)run.count * WORLD_PAGE;
	char *address = storm__at(storm, run.first);

	if (!run.count)
		return;
	switch (storm__draw(storm, 3)) {
	case 0:	/* grow */
		assert_ptr_equal(mremap(address, length, length + WORLD_PAGE,
					MREMAP_MAYMOVE), MAP_FAILED);
		assert_int_equal(errno, EFAULT);
		break;
	case 1:	/* duplicate */
		assert_ptr_equal(mremap(address, 0, length, MREMAP_MAYMOVE),
				 MAP_FAILED);
		assert_true(errno == EFAULT || errno == EINVAL);
		break;
	case 2:	/* move without unmapping */
		assert_ptr_equal(mremap(address, length, length,
					MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0),
				 MAP_FAILED);
		assert_true(errno == EFAULT || errno == EINVAL);
		break;
	}
}

/*
 * All advices but MADV_HWPOISON and MADV_SOFT_OFFLINE, whose purpose is to take pages
 * from their users.
 */
void storm__madvise(struct storm *storm)
{
	static const struct {
		int advice, code;
	} advices[] = {
		{ MADV_NORMAL, 0 },
		{ MADV_RANDOM, 0 },
		{ MADV_SEQUENTIAL, 0 },
		{ MADV_WILLNEED, 0 },
		{ MADV_DONTNEED, 0 },
		{ MADV_FREE, EINVAL },
		{ MADV_REMOVE, EACCES },
		{ MADV_DONTFORK, 0 },
		{ MADV_DOFORK, 0 },
		{ MADV_DOFORK, 0 },
		{ MADV_MERGEABLE, ANY_ERROR },
		{ MADV_UNMERGEABLE, ANY_ERROR },
		{ MADV_HUGEPAGE, ANY_ERROR },
		{ MADV_NOHUGEPAGE, ANY_ERROR },
		{ MADV_DONTDUMP, 0 },
		{ MADV_DODUMP, EINVAL },
		{ MADV_WIPEONFORK, EINVAL },
		{ MADV_KEEPONFORK, 0 },
		{ MADV_COLD, 0 },
		{ MADV_PAGEOUT, 0 },
		{ MADV_POPULATE_READ, 0 },
		{ MADV_POPULATE_WRITE, EINVAL },
		{ MADV_DONTNEED_LOCKED, 0 },
		{ MADV_COLLAPSE, EINVAL },
		{ MADV_GUARD_INSTALL, EINVAL },
		{ MADV_GUARD_REMOVE, ANY_ERROR },
	};
	uint32_t i = storm__draw(storm, sizeof(advices) / sizeof(advices[0]));
	struct run run = storm__draw_mapped(storm, 16);
	bool is_refused = advices[i].advice == MADV_DOFORK && !storm->world->can_inherit;
	int code;

	if (!run.count)
		return;
	code = madvise(storm__at(storm, run.first),
			(size_t)run.count * WORLD_PAGE, advices[i].advice) ?
		errno : 0;
	if (advices[i].advice == MADV_POPULATE_READ &&
	    !storm__is_readable(storm, run))
		assert_int_equal(code, EINVAL);
	else if (is_refused)
		assert_int_equal(code, EINVAL);
	else if (advices[i].code != ANY_ERROR && code != advices[i].code)
		fail_msg("advice %d: %s", advices[i].advice, strerror(code));
	storm__cut(storm, run);
	if (is_refused || (advices[i].advice != MADV_DOFORK && advices[i].advice != MADV_DONTFORK))
		return;
	for (int k = run.first; k < run.first + run.count; k++)
		storm->world->pages[k].is_inherited = advices[i].advice == MADV_DOFORK;
}

/* Other ways to the pages of a process; none of them may write. */
void storm__memory_file(struct storm *storm)
{
	struct run run = storm__draw_mapped(storm, 1);
	off_t offset = (uintptr_t)storm__at(storm, run.first);
	uint64_t value = 0;
	int memory;

	if (!run.count)
		return;
	memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	assert_true(memory >= 0);
	assert_int_equal(pwrite(memory, &value, sizeof(value), offset), -1);
	assert_int_equal(errno, EIO);
	close(memory);
	assert_int_equal(mlock(storm__at(storm, run.first), WORLD_PAGE),
			 storm__is_readable(storm, run) ? 0 : -1);
	munlock(storm__at(storm, run.first), WORLD_PAGE);
}
