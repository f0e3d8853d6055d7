// SPDX-License-Identifier: GPL-2.0-only
/*
 * meanwhile SLOW QUICK: sends the request SLOW to dartd and then, on another connection,
 * QUICK again and again until the reply to SLOW comes.  Prints how often QUICK was answered
 * before, the longest time that it took, in ms, and the reply to SLOW.
 */
#include <errno.h>
#include <error.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "selftests/lib/agent_socket.h"

/* The time that QUICK waits for dartd to begin with SLOW. */
#define BEGIN_MS 50

static FILE *connect_to_agent(void)
{
	return fdopen(agent_socket__connect(), "r");
}

static void send_line(FILE *agent, const char *request)
{
	if (dprintf(fileno(agent), "%s\n", request) < 0)
		error(1, errno, "cannot send");
}

static void receive_line(FILE *agent, char line[static DART_REGISTRATION_REQUEST_MAX])
{
	if (!fgets(line, DART_REGISTRATION_REQUEST_MAX, agent))
		error(1, errno, "no reply");
}

static int has_reply(FILE *agent, int wait_ms)
{
	struct pollfd event = { .fd = fileno(agent), .events = POLLIN };

	return poll(&event, 1, wait_ms) > 0;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	static char line[DART_REGISTRATION_REQUEST_MAX];
	int64_t start, longest = 0;
	FILE *slow, *quick;
	int answered = 0;

	if (argc != 3)
		error(2, 0, "usage: meanwhile SLOW QUICK");
	slow = connect_to_agent();
	quick = connect_to_agent();
	send_line(quick, argv[2]);
	receive_line(quick, line);
	send_line(slow, argv[1]);
	if (has_reply(slow, BEGIN_MS))
		error(1, 0, "it is not slow");
	for (;;) {
		start = now_ms();
		send_line(quick, argv[2]);
		receive_line(quick, line);
		if (now_ms() - start > longest)
			longest = now_ms() - start;
		/* Either of two replies that arrive together may be the first. */
		if (has_reply(slow, 0))
			break;
		answered++;
	}
	receive_line(slow, line);
	printf("answered %d times, after %d ms at most: %s", answered, (int)longest, line);
	return 0;
}
