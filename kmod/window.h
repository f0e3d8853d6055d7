/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_WINDOW_H
#define DART_ZERO_WINDOW_H

struct dart_extent;
struct dart_zero_window;

/*
 * An extent over the counters that @window selects, with no place yet, or
 * ERR_PTR(): -EINVAL, -EBADF, -ENOENT, -ENODEV, -EOPNOTSUPP, -ENOSPC, -ENOMEM.
 * The caller has checked capabilities.  Process context.
 */
struct dart_extent *dart_window_open(const struct dart_zero_window *window);

#endif /* DART_ZERO_WINDOW_H */
