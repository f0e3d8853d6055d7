/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of a process under /proc: another process with the same number cannot take their place. */
#ifndef APPLICATION_PROC_FILES_H
#define APPLICATION_PROC_FILES_H

#include <stdbool.h>
#include <stdint.h>
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

/* Two changes of a file within these seconds can have the same time. */
#define EXECUTABLE_FILE_SETTLED_S 2

/* The file of a program with certain contents: a change of them changes the time, too. */
struct executable_file {
	uint32_t device_major, device_minor;
	uint64_t inode; /* 0: unknown */
	int64_t changed_s;
	uint32_t changed_ns;
	int64_t seen_s; /* when it was asked for; CLOCK_REALTIME, as the other times */
};

/*
 * Asks for the file of a program, /proc/PID/exe, as the kernel knows it: no file system is asked,
 * so this never waits.  @name is relative to @directory, or "" for the open file @directory itself.
 */
bool executable_file__read(struct executable_file *file, int directory, const char *name);
/* Seen at any time. */
bool executable_file__equals(const struct executable_file *one,
			     const struct executable_file *other);

/* Sets the sentence for a process that has ended, and returns -ESRCH. */
int proc_files__ended(struct dart_error *error);

#endif /* APPLICATION_PROC_FILES_H */
