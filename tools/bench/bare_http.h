/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The least that an answer over HTTP can take on this machine now: a thread of the measured process
 * that accepts a connection, reads a head, answers 204 and closes, without a lock or a queue.
 */
#ifndef BENCH_BARE_HTTP_H
#define BENCH_BARE_HTTP_H

#include <stdint.h>

/* At 127.0.0.1:@port, until the process ends.  Returns 0 or -errno. */
int bare_http__start(uint16_t port);

#endif /* BENCH_BARE_HTTP_H */
