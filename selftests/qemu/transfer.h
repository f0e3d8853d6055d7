/* SPDX-License-Identifier: GPL-2.0-only */
/* Complete reads and writes on blocking descriptors. */
#ifndef QEMU_TRANSFER_H
#define QEMU_TRANSFER_H

#include <stddef.h>

/* Both return 0 or -errno; -EPIPE if the other end closes too early. */
int transfer__write(int fd, const void *data, size_t length);
int transfer__read(int fd, void *data, size_t length);

#endif
