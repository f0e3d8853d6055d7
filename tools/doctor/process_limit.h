/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits and capabilities of a process, from /proc. */
#ifndef PROCESS_LIMIT_H
#define PROCESS_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_LIMIT_NONE UINT64_MAX

/*
 * The soft limit called @name in /proc/PID/limits, such as "Max open files".
 * False if it cannot be read.
 */
bool process_limit__get(pid_t pid, const char *name, uint64_t *limit);
/* Whether the process has the capability @number; false also if unknown. */
bool process_limit__has_capability(pid_t pid, unsigned int number);
/* The value of "@name: N kB" in /proc/PID/status in bytes, or 0. */
uint64_t process_limit__status_bytes(pid_t pid, const char *name);

#endif /* PROCESS_LIMIT_H */
