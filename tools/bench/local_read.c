// SPDX-License-Identifier: GPL-2.0-only
/*
 * local_read [--count N] [--interval 100ms] [parse] FILE...: the minimal work of a
 * collector on the host itself for one sample.  Files stay open and are read from
 * the beginning.  With "parse" all numbers in them are converted and kept, otherwise
 * nothing is parsed; nothing is sent.  Notifies its parent when all are open
 * (sd_notify(3)).
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "timing.h"

#define NUMBERS_MAX 65536

struct files {
	int *fds;
	int count;
	bool is_parsed;
	size_t bytes; /* of the last sample, as the members below */
	uint64_t numbers[NUMBERS_MAX];
	size_t number_count;
	uint64_t cpu_ns; /* of all samples */
};

/* Digits after a letter belong to a name. */
static void parse(struct files *files, const char *text)
{
	bool in_name = false;

	while (*text) {
		if (*text >= '0' && *text <= '9' && !in_name) {
			uint64_t number = 0;

			while (*text >= '0' && *text <= '9')
				number = number * 10 + (*text++ - '0');
			if (files->number_count == NUMBERS_MAX)
				errx(EXIT_FAILURE, "parse: too many numbers");
			files->numbers[files->number_count++] = number;
			continue;
		}
		in_name = *text != ' ' && *text != '\n' && *text != '\t' &&
			  *text != ':' && *text != '-';
		text++;
	}
}

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static uint64_t sample(void *context)
{
	uint64_t start = timing__now_ns(), cpu_start = cpu_now_ns();
	struct files *files = context;
	static char bytes[131072];
	ssize_t got;
	int i;

	files->bytes = 0;
	files->number_count = 0;
	for (i = 0; i < files->count; i++) {
		got = pread(files->fds[i], bytes, sizeof(bytes) - 1, 0);
		if (got < 0)
			err(EXIT_FAILURE, "read");
		if (!got)
			errx(EXIT_FAILURE, "read: an empty file");
		files->bytes += got;
		if (files->is_parsed) {
			bytes[got] = '\0';
			parse(files, bytes);
		}
	}
	files->cpu_ns += cpu_now_ns() - cpu_start;
	return timing__now_ns() - start;
}

int main(int argc, char *argv[])
{
	struct timing timing;
	int i, first = timing__parse(&timing, argc, argv);
	static struct files files;
	unsigned long count;

	if (first >= 0 && first < argc && !strcmp(argv[first], "parse")) {
		files.is_parsed = true;
		first++;
	}
	files.count = argc - first;
	if (first < 0 || files.count <= 0)
		errx(EXIT_FAILURE,
		     "usage: local_read [--count N] [--interval 100ms] [parse] FILE...");
	files.fds = calloc(files.count, sizeof(*files.fds));
	if (!files.fds)
		err(EXIT_FAILURE, "memory");
	for (i = 0; i < files.count; i++) {
		files.fds[i] = open(argv[first + i], O_RDONLY | O_CLOEXEC);
		if (files.fds[i] < 0)
			err(EXIT_FAILURE, "%s", argv[first + i]);
	}

	sd_notify(0, "READY=1");
	printf("{");
	count = timing__run(&timing, sample, &files);
	printf(", \"reads\": %d, \"bytes\": %zu, \"numbers\": %zu, \"cpu_ns\": %llu}\n",
	       files.count, files.bytes, files.number_count,
	       (unsigned long long)(files.cpu_ns / count));
	free(files.fds);
	return EXIT_SUCCESS;
}
