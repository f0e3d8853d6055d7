/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What /proc tells of a process.  All of it is the user's choice except the numbers, and may be
 * about another process a moment later: it chooses processes, but proves nothing.
 */
#ifndef APPLICATION_HOST_PROCESS_H
#define APPLICATION_HOST_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns a pidfd, or -errno: -ESRCH if there is no such process. */
int host_process__open(pid_t pid);
/* The path of the executable as its mount namespace has it; false for threads of the kernel. */
bool host_process__executable(pid_t pid, char path[static PATH_MAX]);
/* The path of the cgroup, below the root of the cgroup v2 hierarchy. */
bool host_process__cgroup(pid_t pid, char path[static PATH_MAX]);
/* Is @unit, such as "redis.service", a part of the path of a cgroup? */
bool cgroup__is_in_unit(const char *cgroup, const char *unit);
/* Is the cgroup @top, or below it? */
bool cgroup__is_below(const char *cgroup, const char *top);
/* Copies the name of the service that a cgroup belongs to, without ".service"; false: to none. */
bool cgroup__service(const char *cgroup, char name[static NAME_MAX + 1]);

/* Its parent, and its start in ticks of the clock since the boot; false: it has ended. */
bool host_process__origin(pid_t pid, pid_t *parent, uint64_t *start);
/* 0: it has ended. */
pid_t host_process__parent(pid_t pid);
/* Its real user; false: it has ended. */
bool host_process__user(pid_t pid, uid_t *user);

/* Calls @take for each process. */
void host_processes__each(void (*take)(void *userdata, pid_t pid), void *userdata);

#endif /* APPLICATION_HOST_PROCESS_H */
