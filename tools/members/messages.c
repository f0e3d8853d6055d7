// SPDX-License-Identifier: GPL-2.0-only
/* Messages on standard error, a bounded number in a minute: see messages.h. */
#include "messages.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/controller/base/validity.h"

#define MINUTE_NS 60000000000ULL

struct messages_bound {
	const unsigned int most; /* in a minute */
	const char *const noun;
	uint64_t begun_ns; /* of the minute */
	unsigned int count, left_out;
};

/* The library's callback has no argument for a place. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct messages_bound lines = {
	.most = MESSAGES_LINES_MAX,
	.noun = "lines of ZooKeeper's library",
};
static struct messages_bound sentences = {
	.most = MESSAGES_SENTENCES_MAX,
	.noun = "messages",
};

/* True if the minute permits another message.  First prints how many the last minute left out. */
static bool messages_bound__passes(struct messages_bound *bound)
{
	const uint64_t now_ns = boottime_ns();

	if (!bound->begun_ns || now_ns >= bound->begun_ns + MINUTE_NS) {
		if (bound->left_out)
			fprintf(stderr, "dart-members-zookeeper: %u %s were left out\n",
				bound->left_out, bound->noun);
		bound->begun_ns = now_ns;
		bound->count = bound->left_out = 0;
	}
	if (bound->count < bound->most) {
		bound->count++;
		return true;
	}
	bound->left_out++;
	return false;
}

void messages__say(const char *format, ...)
{
	va_list arguments;

	pthread_mutex_lock(&lock);
	if (messages_bound__passes(&sentences)) {
		fputs("dart-members-zookeeper: ", stderr);
		va_start(arguments, format);
		vfprintf(stderr, format, arguments);
		va_end(arguments);
		fputc('\n', stderr);
	}
	pthread_mutex_unlock(&lock);
}

void messages__take_line(const char *line)
{
	pthread_mutex_lock(&lock);
	if (messages_bound__passes(&lines))
		fprintf(stderr, "dart-members-zookeeper: libzookeeper: %.*s\n",
			(int)strcspn(line, "\n"), line);
	pthread_mutex_unlock(&lock);
}
