// SPDX-License-Identifier: GPL-2.0-only
/* The guest's kernel log, searched for complaints. */
#include "kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Messages of a kernel with a fault, from the source of Linux. */
static const char *const symptoms[] = {
	"BUG: ",
	"Bad page ",
	"KASAN: ",
	"KCSAN: ",
	"INFO: trying to register non-static key",
	"KFENCE: ",
	"Kernel panic",
	"ODEBUG: ",
	"Object already free",
	"Oops: ",
	"Out of memory: ",
	"Poison overwritten",
	"UBSAN: ",
	"WARNING: ",
	"[dart_zero] enqueued on deprecated workqueue",
	"blocked for more than",
	"general protection fault",
	"kernel BUG at",
	"list_add corruption",
	"list_del corruption",
	"leak detector disabled",
	"possible circular locking",
	"possible recursive locking",
	"rcu: INFO: ",
	"refcount_t: ",
	"suspicious RCU",
	"unable to handle",
	"unregister_netdevice: waiting",
};

int kernel_log__open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int kernel_log__next(int fd, char line[KERNEL_LOG_RECORD], unsigned long long *sequence)
{
	char record[KERNEL_LOG_RECORD];
	unsigned int priority;
	ssize_t length;
	char *text;

	for (;;) {
		length = read(fd, record, sizeof(record) - 1);
		if (length < 0 && errno == EAGAIN)
			return 0;
		if (length < 0 && (errno == EPIPE || errno == EINTR))
			continue;	/* records were overwritten */
		if (length < 0)
			return -errno;
		record[length] = '\0';

		/* "priority,sequence,time,flags;text\n" */
		text = strchr(record, ';');
		if (!text || sscanf(record, "%u,%llu,", &priority, sequence) != 2)
			continue;
		if (priority >> 3)	/* a facility other than the kernel */
			continue;
		text++;
		length = strcspn(text, "\n");
		memcpy(line, text, length);
		line[length] = '\0';
		if (length)
			return length;
	}
}

bool kernel_log__is_clean(const char *line)
{
	size_t i;

	/* Reports on slab caches lack the colon of all other reports. */
	if (!strncmp(line, "BUG ", 4))
		return false;
	for (i = 0; i < sizeof(symptoms) / sizeof(symptoms[0]); i++) {
		if (strstr(line, symptoms[i]))
			return false;
	}
	return true;
}
