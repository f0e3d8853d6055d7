/* SPDX-License-Identifier: GPL-2.0-only */
/* Times of map entries that several CPUs change under a lock. */
#ifndef ELAPSED_H
#define ELAPSED_H

/*
 * Have @ns passed since @since, at @now, which this CPU read before it took the lock?  Signed:
 * another CPU may have set @since to a later time meanwhile.
 */
static __always_inline bool has_passed(__u64 since, __u64 now, __u64 ns)
{
	return (__s64)(now - since) >= (__s64)ns;
}

#endif /* ELAPSED_H */
