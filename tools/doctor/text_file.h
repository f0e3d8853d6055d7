/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files of the kernel: sysfs, /proc. */
#ifndef TEXT_FILE_H
#define TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the first line, without its newline.  Returns false, and "", after a failure. */
__attribute__((format(printf, 3, 4))) bool
text_file__line(char *line, size_t size, const char *path_format, ...);
/* Reads a decimal number; -1 without one. */
__attribute__((format(printf, 1, 2))) long long text_file__number(const char *path_format, ...);
__attribute__((format(printf, 1, 2))) bool text_file__exists(const char *path_format, ...);

#endif /* TEXT_FILE_H */
