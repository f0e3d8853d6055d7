/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A running program whose memory has a layout, see dart_application(5): the process and the load
 * bases of its modules.
 *
 * The program is hostile.  It can change its memory at any time, also its headers and its pointers.
 * So these only tell which bytes to fetch, all of which are the program's own.
 */
#ifndef APPLICATION_PROCESS_H
#define APPLICATION_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

#include "proc_files.h"

#define APPLICATION_WITNESS_BYTES 16

struct application_process {
	pid_t pid;
	/* /proc/PID/mem: the memory that the process had at first, also after another execve(2) */
	int memory;
	/*
	 * Random bytes that the kernel gave the program at execve(2), and their address.  @memory alone
	 * does not tell whether @pid still has it: another process may share it (CLONE_VM), and @pid
	 * may execute a program whose memory is not its user's.
	 */
	uint64_t witness_address;
	uint8_t witness[APPLICATION_WITNESS_BYTES];
	uint64_t bases[DART_APPLICATION_MODULES_MAX]; /* of the modules of the layout */
};

/*
 * Finds the modules of @layout in the process of @pidfd, compares their build-ids, as they lie in
 * memory, and makes the checks.  Returns 0; -ESRCH if the process has ended or executes another
 * program; -ENOEXEC if the layout does not fit the program; -EACCES or another -errno.
 */
int application_process__attach(struct application_process *process, int pidfd,
				const struct dart_application_layout *layout,
				struct dart_error *error);
/*
 * Makes the checks of @layout once more: memory that describes itself may have got other contents.
 * Returns 0, -ESRCH or -ENOEXEC as above.
 */
int application_process__check(const struct application_process *process,
			       const struct dart_application_layout *layout,
			       struct dart_error *error);
void application_process__detach(struct application_process *process);

/*
 * The build-id of the executable of a process, by which its layout is looked up.  @file,
 * unless it is NULL, becomes the file that has the same build-id; its inode is 0 if there is none.
 * Returns 0, -ENOEXEC without a build-id, or another -errno as above.
 */
int application_process__build_id(int pidfd, struct dart_application_build_id *id,
				  struct executable_file *file, struct dart_error *error);

/*
 * Does the process still execute the same program?  If so after values were fetched by @pid, all
 * of them are the program's.  Sleeps like application_reader__read().
 */
bool application_process__lives(const struct application_process *process);
/*
 * The same also of a process that has prepared its memory: it may know bytes of the next program,
 * such as its environment, and have told the kernel that its random bytes lie there
 * (PR_SET_MM_MAP of prctl(2), which every user may call).
 * The kernel chooses another address for the next program.  Takes longer: call it before values of
 * several reads are shown.
 */
bool application_process__has_program(const struct application_process *process);

#endif /* APPLICATION_PROCESS_H */
