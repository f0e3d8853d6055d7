// SPDX-License-Identifier: GPL-2.0-only
/*
 * request [-n TIMES] LINE...: sends the lines, TIMES over, to the registration socket
 * and prints the replies, and the changes after the reply to "monitor", until dartd
 * disconnects.  With -s it reads only the first reply, and prints "disconnected" when
 * dartd disconnects it.
 */
#include <errno.h>
#include <error.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selftests/lib/agent_socket.h"

/* Sends the line and prints one line of reply. */
static void ask(FILE *agent, const char *request)
{
	static char *line;
	static size_t size;

	if (dprintf(fileno(agent), "%s\n", request) < 0 || getline(&line, &size, agent) < 0)
		error(1, errno, "no reply");
	fputs(line, stdout);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	bool is_monitor = false, stalls = false;
	int option, i, times = 1;
	FILE *agent;
	int byte;

	while ((option = getopt(argc, argv, "n:s")) != -1) {
		if (option == 'n')
			times = atoi(optarg);
		else if (option == 's')
			stalls = true;
		else
			return 2;
	}
	agent = fdopen(agent_socket__connect(), "r");
	for (; times; times--)
		for (i = optind; i < argc; i++)
			ask(agent, argv[i]);
	is_monitor = optind < argc && strstr(argv[argc - 1], "monitor");
	if (stalls) {
		struct pollfd end = { .fd = fileno(agent), .events = 0 };

		while (poll(&end, 1, -1) < 0 && errno == EINTR)
			;
		puts("disconnected");
	} else if (is_monitor) {
		while ((byte = getc(agent)) != EOF) {
			putchar(byte);
			if (byte == '\n')
				fflush(stdout);
		}
	}
	return 0;
}
