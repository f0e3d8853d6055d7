// SPDX-License-Identifier: GPL-2.0-only
/* Opens the files of the process of a pidfd: see proc_files.h. */
#include "proc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Returns the pid, 0 if the process has ended, or -errno. */
static pid_t pid_of(int pidfd)
{
	char path[64], line[128];
	pid_t pid = -EBADF;
	FILE *file;
	int number;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Pid: %d", &number) == 1)
			pid = number > 0 ? number : 0;
	fclose(file);
	return pid;
}

int proc_files__ended(struct dart_error *error)
{
	return dart_error__set(error, ESRCH, "the process has ended, or executes another program");
}

/*
 * Until the process is reaped, no other process gets its pid.  So if it is still there after its
 * directory was opened, the directory is its own, and stays so.
 */
int proc_files__open(struct proc_files *files, int pidfd, struct dart_error *error)
{
	char path[32];
	int ret;

	files->pid = pid_of(pidfd);
	if (files->pid < 0)
		return dart_error__system(error, -files->pid, "cannot find the process");
	if (!files->pid)
		return proc_files__ended(error);
	snprintf(path, sizeof(path), "/proc/%d", files->pid);
	files->directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (files->directory < 0)
		return errno == ENOENT ? proc_files__ended(error) :
					 dart_error__system(error, errno, "cannot open %s", path);
	/* EPERM tells that the process exists: dartd needs no permission to send it signals. */
	if (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) && errno != EPERM) {
		ret = errno == ESRCH ? proc_files__ended(error) :
				       dart_error__system(error, errno, "cannot ask for process %d",
							  files->pid);
		goto close_directory;
	}
	files->memory = openat(files->directory, "mem", O_RDONLY | O_CLOEXEC);
	if (files->memory >= 0)
		return 0;
	ret = errno == ENOENT || errno == ESRCH ?
		      proc_files__ended(error) :
		      dart_error__system(
			      error, errno,
			      "cannot open the memory of process %d (CAP_SYS_PTRACE allows it)",
			      files->pid);
close_directory:
	close(files->directory);
	return ret;
}

void proc_files__close(const struct proc_files *files)
{
	close(files->memory);
	close(files->directory);
}

FILE *proc_files__open_maps(const struct proc_files *files, int *ret, struct dart_error *error)
{
	const int fd = openat(files->directory, "maps", O_RDONLY | O_CLOEXEC);
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");

	if (maps)
		return maps;
	*ret = dart_error__system(error, errno, "cannot list the mappings of process %d",
				  files->pid);
	if (fd >= 0)
		close(fd);
	return NULL;
}

bool executable_file__read(struct executable_file *file, int directory, const char *name)
{
	const int64_t seen_s = time(NULL);
	struct statx status;

	if (statx(directory, name, AT_STATX_DONT_SYNC | (*name ? 0 : AT_EMPTY_PATH),
		  STATX_INO | STATX_CTIME, &status))
		return false;
	*file = (struct executable_file){
		.device_major = status.stx_dev_major,
		.device_minor = status.stx_dev_minor,
		.inode = status.stx_ino,
		.changed_s = status.stx_ctime.tv_sec,
		.changed_ns = status.stx_ctime.tv_nsec,
		.seen_s = seen_s,
	};
	return true;
}

bool executable_file__equals(const struct executable_file *one, const struct executable_file *other)
{
	return one->device_major == other->device_major &&
	       one->device_minor == other->device_minor && one->inode == other->inode &&
	       one->changed_s == other->changed_s && one->changed_ns == other->changed_ns;
}
