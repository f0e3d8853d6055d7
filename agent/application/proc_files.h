/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of a process under /proc: another process with the same number cannot take their place. */
#ifndef APPLICATION_PROC_FILES_H
#define APPLICATION_PROC_FILES_H

#include <stdio.h>
#include <sys/types.h>

#include <libdart/error.h>

#include "elf_image.h"

struct proc_files {
	pid_t pid;
	int directory;
	int memory; /* /proc/PID/mem */
};

/*
 * Opens the directory and the memory of the process of @pidfd.  Returns 0; or -ESRCH if it has
 * ended, -EACCES or another -errno, with @error.
 */
int proc_files__open(struct proc_files *files, int pidfd, struct dart_error *error);
void proc_files__close(const struct proc_files *files);

static inline struct elf_memory proc_files__memory(const struct proc_files *files)
{
	return (struct elf_memory){ .pid = files->pid, .file = files->memory };
}

/* Opens the list of mappings, /proc/PID/maps; NULL, or -errno in *@ret with @error. */
FILE *proc_files__open_maps(const struct proc_files *files, int *ret, struct dart_error *error);

/* Sets the sentence for a process that has ended, and returns -ESRCH. */
int proc_files__ended(struct dart_error *error);

#endif /* APPLICATION_PROC_FILES_H */
