// SPDX-License-Identifier: GPL-2.0-only
/*
 * local_read [--count N] [--interval 100ms] FILE...: the minimal work of a
 * collector on the host itself for one sample.  Files stay open and are read from
 * the beginning; nothing is parsed or sent.  Notifies its parent when all are open
 * (sd_notify(3)).
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "timing.h"

struct files {
	int *fds;
	int count;
	size_t bytes;	/* of the last sample */
};

static uint64_t sample(void *context)
{
	uint64_t start = timing__now_ns();
	struct files *files = context;
	static char bytes[16384];
	ssize_t got;
	int i;

	files->bytes = 0;
	for (i = 0; i < files->count; i++) {
		got = pread(files->fds[i], bytes, sizeof(bytes), 0);
		if (got < 0)
			err(EXIT_FAILURE, "read");
		if (!got)
			errx(EXIT_FAILURE, "read: an empty file");
		files->bytes += got;
	}
	return timing__now_ns() - start;
}

int main(int argc, char *argv[])
{
	struct timing timing;
	int i, first = timing__parse(&timing, argc, argv);
	struct files files = { .count = argc - first };

	if (first < 0 || !files.count)
		errx(EXIT_FAILURE,
		     "usage: local_read [--count N] [--interval 100ms] FILE...");
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
	timing__run(&timing, sample, &files);
	printf(", \"reads\": %d, \"bytes\": %zu}\n", files.count, files.bytes);
	free(files.fds);
	return EXIT_SUCCESS;
}
