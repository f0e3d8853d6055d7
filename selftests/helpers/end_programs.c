// SPDX-License-Identifier: GPL-2.0-only
/*
 * end_programs SIGNAL PATTERN: sends SIGNAL, a name without SIG, to all processes whose name as a
 * whole matches PATTERN, an extended regular expression, and waits until all of them have ended.
 * Exits with 1 if there is no such process.
 *
 * pkill and pidwait do the same, but read four files of each process, twice: in an emulated machine
 * that takes half a second.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROCESSES_MAX 256

static regex_t pattern;

static int signal_of(const char *name)
{
	int number;

	for (number = 1; number < NSIG; number++)
		if (sigabbrev_np(number) && !strcmp(sigabbrev_np(number), name))
			return number;
	errx(2, "there is no signal %s", name);
}

static void compile(const char *text)
{
	char whole[256];

	if (snprintf(whole, sizeof(whole), "^(%s)$", text) >= (int)sizeof(whole) ||
	    regcomp(&pattern, whole, REG_EXTENDED | REG_NOSUB))
		errx(2, "'%s' is not a pattern", text);
}

/* False, too, for a process that has ended meanwhile. */
static int matches(const char *pid)
{
	char path[300], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		*name = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	return !regexec(&pattern, name, 0, NULL, 0);
}

int main(int argc, char *argv[])
{
	struct pollfd processes[PROCESSES_MAX];
	int signal, count = 0, i;
	struct dirent *entry;
	DIR *directory;
	pid_t pid;

	if (argc != 3)
		errx(2, "usage: end_programs SIGNAL PATTERN");
	signal = signal_of(argv[1]);
	compile(argv[2]);
	directory = opendir("/proc");
	if (!directory)
		err(2, "/proc");
	while ((entry = readdir(directory))) {
		pid = atoi(entry->d_name);
		if (pid <= 0 || pid == getpid() || !matches(entry->d_name))
			continue;
		if (count == PROCESSES_MAX)
			errx(2, "more than %d processes match", PROCESSES_MAX);
		processes[count].fd = syscall(SYS_pidfd_open, pid, 0);
		processes[count].events = POLLIN;
		if (processes[count].fd < 0 && errno != ESRCH)
			err(2, "process %d", pid);
		if (processes[count].fd >= 0)
			count++;
	}
	closedir(directory);

	for (i = 0; i < count; i++)
		if (syscall(SYS_pidfd_send_signal, processes[i].fd, signal, NULL, 0) &&
		    errno != ESRCH)
			err(2, "cannot send the signal");
	for (i = 0; i < count; i++)
		while (poll(&processes[i], 1, -1) < 0)
			if (errno != EINTR)
				err(2, "poll");
	return !count;
}
