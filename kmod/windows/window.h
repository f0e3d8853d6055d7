/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_WINDOW_H
#define DART_ZERO_WINDOW_H

struct dart_extent;
struct dart_percpu;
struct dart_zero_window;

/*
 * The counters that @window selects, with a reference, or ERR_PTR(): -EINVAL, -EBADF,
 * -ENOENT, -ENODEV, -EOPNOTSUPP, -ENOMEM.  The caller has checked capabilities.
 * Process context.
 */
struct dart_percpu *dart_window_open_percpu(const struct dart_zero_window *window);

/* An extent over these counters, not yet placed, or ERR_PTR(): the same errors, or -ENOSPC. */
struct dart_extent *dart_window_open(const struct dart_zero_window *window);

#endif /* DART_ZERO_WINDOW_H */
