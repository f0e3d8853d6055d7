/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the times of cgroups while the kernel moves them.  These functions touch nothing but words:
 * a unit test runs them between the steps of the kernel, with its own READ_ONCE().
 *
 * A flush of the kernel moves a time from a CPU to its cgroup, and from a cgroup to its
 * parent.  Each move is two writes: the kernel adds the time to the destination (`bstat` of
 * the cgroup, or of its parent), then to the count of times that have left the source
 * (`last_bstat`).  All these words only grow.  A reader takes no lock.  It reads the
 * destination before the source, so it misses a time that moves in between; the next sum has
 * it.  Between the two writes the same time is in both places.  The kernel is there for
 * nanoseconds, with interrupts disabled: a sum counts a time twice only if the CPU of the
 * kernel stands still there (a virtual CPU that the hypervisor does not run) from one reading
 * to the other.  What is shown is then too high by this time until the cgroup has used it.
 */
#ifndef DART_ZERO_CGROUP_TIME_H
#define DART_ZERO_CGROUP_TIME_H

#define DART_CGROUP_TIMES_MAX 8

/* Adds @arrived - @left for each of @count times, unless the difference is negative. */
static inline void dart_cgroup_add_difference(u64 *times, const u64 *arrived,
					      const u64 *left, u32 count)
{
	u64 difference;
	u32 i;

	for (i = 0; i < count; i++) {
		difference = arrived[i] - left[i];
		/* A time that arrived and left meanwhile was not read anywhere else. */
		if ((s64)difference > 0)
			times[i] += difference;
	}
}

/* Copies @count times, each in one piece. */
static inline void dart_cgroup_read(u64 *copy, const void *times, u32 count)
{
	const u64 *words = times;
	u32 i;

	for (i = 0; i < count; i++)
		copy[i] = READ_ONCE(words[i]);
}

/* Adds the times in @arrived, a copy, that have not left yet.  Reads @left now. */
static inline void dart_cgroup_add_remaining(u64 *times, const u64 *arrived,
					     const void *left, u32 count)
{
	u64 copy[DART_CGROUP_TIMES_MAX];

	smp_rmb();	/* @left is read after @arrived */
	dart_cgroup_read(copy, left, count);
	dart_cgroup_add_difference(times, arrived, copy, count);
}

/* Adds the times that a CPU counted and that have not arrived at its cgroup yet. */
static inline void dart_cgroup_add_cpu(u64 *times, const void *counted,
				       const void *moved, u32 count)
{
	u64 copy[DART_CGROUP_TIMES_MAX];

	dart_cgroup_read(copy, counted, count);
	dart_cgroup_add_remaining(times, copy, moved, count);
}

/*
 * Sets @shown to @summed where that is more, since a shown time never falls.  The comparison is
 * signed, because a sum can be wrong.
 */
static inline void dart_cgroup_advance(u64 *shown, const u64 *summed, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if ((s64)(summed[i] - shown[i]) > 0)
			shown[i] = summed[i];
}

#endif /* DART_ZERO_CGROUP_TIME_H */
