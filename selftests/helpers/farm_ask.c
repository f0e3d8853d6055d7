// SPDX-License-Identifier: GPL-2.0-only
/*
 * farm_ask SOCKET WORD...: sends a request to the farm at SOCKET and prints the answer.
 * Exits with 1 if it is an error.
 */
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char request[128] = "", answer[1024];
	size_t used = 0;
	ssize_t length;
	int fd, i;

	if (argc < 3 || strlen(argv[1]) >= sizeof(address.sun_path))
		error(2, 0, "expected SOCKET and a request");
	for (i = 2; i < argc && used < sizeof(request); i++)
		used += snprintf(request + used, sizeof(request) - used, "%s%s",
				 i > 2 ? " " : "", argv[i]);
	if (used >= sizeof(request))
		error(2, 0, "the request is too long");

	strcpy(address.sun_path, argv[1]);
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		error(1, errno, "cannot connect to %s", argv[1]);
	if (send(fd, request, used, 0) < 0)
		error(1, errno, "cannot ask");
	length = recv(fd, answer, sizeof(answer) - 1, 0);
	if (length <= 0)
		error(1, length ? errno : 0, "no answer");
	answer[length] = '\0';
	puts(answer);
	return !strncmp(answer, "error", 5);
}
