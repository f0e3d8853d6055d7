/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that nobody waits for, because a process decides how long its calls take.  It ends when
 * its last call returns, or with dartd, whose end interrupts the call.
 */
#ifndef LONE_THREAD_H
#define LONE_THREAD_H

#include <stddef.h>

/*
 * Starts @run(@argument) with a stack of @stack bytes.  The thread takes no signals.  0 or -errno.
 */
int lone_thread__start(void *(*run)(void *argument), void *argument, size_t stack);

#endif /* LONE_THREAD_H */
