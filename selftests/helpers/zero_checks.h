/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of programs with libdartzero or libdartzero-preload that look at themselves.  The first one
 * that fails ends the program with 1.  Valid as C and as C++.
 */
#ifndef SELFTESTS_ZERO_CHECKS_H
#define SELFTESTS_ZERO_CHECKS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition) check(condition, #condition, __LINE__)

static void check(int is_true, const char *condition, int line)
{
	if (is_true)
		return;
	fprintf(stderr, "line %d: %s: %s\n", line, condition, strerror(errno));
	exit(1);
}

/* Opens the memfd through the descriptors of the thread that holds it; -1: no thread holds one. */
static int open_memfd(void)
{
	char path[300], link[64];
	DIR *tasks = opendir("/proc/self/task"), *files;
	struct dirent *task, *file;
	int fd = -1;

	while (fd < 0 && (task = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/fd", task->d_name);
		files = *task->d_name == '.' ? NULL : opendir(path);
		while (files && (file = readdir(files))) {
			ssize_t length =
				readlinkat(dirfd(files), file->d_name, link, sizeof(link) - 1);

			if (length < 16 || strncmp(link, "/memfd:dart_zero", 16))
				continue;
			fd = openat(dirfd(files), file->d_name, O_RDONLY);
			break;
		}
		if (files)
			closedir(files);
	}
	closedir(tasks);
	return fd;
}

/* The program has no descriptor of the library. */
static void check_descriptors(void)
{
	DIR *files = opendir("/proc/self/fd");
	struct dirent *file;
	char link[64];

	while ((file = readdir(files))) {
		ssize_t length = readlinkat(dirfd(files), file->d_name, link, sizeof(link) - 1);

		link[length < 0 ? 0 : length] = '\0';
		CHECK(strncmp(link, "/memfd:", 7) && strcmp(link, "anon_inode:inotify"));
	}
	closedir(files);
}

/* The library has @wanted threads, which block every signal that can be blocked. */
static void check_signals(int wanted)
{
	DIR *directory = opendir("/proc/self/task");
	struct dirent *entry;
	int threads = 0;

	while ((entry = readdir(directory))) {
		unsigned long long blocked = 0;
		char path[64], line[128];
		FILE *file;

		if (*entry->d_name == '.' || atoi(entry->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", entry->d_name);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			sscanf(line, "SigBlk: %llx", &blocked);
		if (file)
			fclose(file);
		threads++;
		CHECK(blocked & 1ULL << (SIGTERM - 1) && blocked & 1ULL << (SIGUSR1 - 1) &&
		      blocked & 1ULL << (SIGCHLD - 1));
	}
	closedir(directory);
	CHECK(threads == wanted);
}

#endif /* SELFTESTS_ZERO_CHECKS_H */
