// SPDX-License-Identifier: GPL-2.0-only
/* Writes messages to stderr, for a terminal or the journal. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

static bool to_journal;

/* JOURNAL_STREAM holds the device and inode of systemd's stream. */
void log__open(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char ours[64];
	struct stat status;

	if (!stream || fstat(STDERR_FILENO, &status))
		return;
	snprintf(ours, sizeof(ours), "%ju:%ju", (uintmax_t)status.st_dev,
		 (uintmax_t)status.st_ino);
	to_journal = !strcmp(stream, ours);
}

void log__write(int priority, const char *format, ...)
{
	char message[1024];
	va_list arguments;
	char *byte;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);

	/* A message may quote names that clients chose: keep it on one line. */
	for (byte = message; *byte; byte++)
		if ((unsigned char)*byte < 0x20 || *byte == 0x7f)
			*byte = ' ';

	if (to_journal)
		fprintf(stderr, "<%d>%s\n", priority, message);
	else
		fprintf(stderr, "dartd: %s\n", message);
}
