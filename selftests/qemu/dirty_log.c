// SPDX-License-Identifier: GPL-2.0-only
/*
 * dirty-log: print the complaints of the guest's kernel since the last call. Exits with
 * 0 without complaints, 1 with complaints, 2 if the log cannot be read.
 */
#include "kernel_log.h"

#include <stdio.h>
#include <string.h>

#define MARK	"/run/dirty-log.sequence"

static unsigned long long mark__load(void)
{
	unsigned long long sequence = 0;
	FILE *file = fopen(MARK, "re");

	if (!file)
		return 0;
	if (fscanf(file, "%llu", &sequence) != 1)
		sequence = 0;
	fclose(file);
	return sequence;
}

static int mark__save(unsigned long long sequence)
{
	FILE *file = fopen(MARK, "we");

	if (!file)
		return -1;
	fprintf(file, "%llu\n", sequence);
	return fclose(file);
}

int main(void)
{
	unsigned long long next = mark__load(), sequence;
	char line[KERNEL_LOG_RECORD];
	int fd, length, dirty = 0;

	fd = kernel_log__open();
	if (fd < 0) {
		fprintf(stderr, "dirty-log: cannot open /dev/kmsg: %s\n", strerror(-fd));
		return 2;
	}
	while ((length = kernel_log__next(fd, line, &sequence)) > 0) {
		if (sequence < next)
			continue;
		next = sequence + 1;
		if (kernel_log__is_clean(line))
			continue;
		puts(line);
		dirty = 1;
	}
	if (length < 0 || mark__save(next)) {
		perror("dirty-log");
		return 2;
	}
	return dirty;
}
