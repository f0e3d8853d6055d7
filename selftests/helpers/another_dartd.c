// SPDX-License-Identifier: GPL-2.0-only
/*
 * another_dartd PATH REPLY: listens on the UNIX socket PATH and answers one request on
 * each connection with the line REPLY, as a dartd of another release may.  Notifies
 * that it is ready (sd_notify(3)) when it listens.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client;
	char request[4096];

	if (argc != 3 || strlen(argv[1]) >= sizeof(address.sun_path))
		errx(2, "usage: another_dartd PATH REPLY");
	strcpy(address.sun_path, argv[1]);
	unlink(argv[1]);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 1))
		err(1, "cannot listen on %s", argv[1]);
	sd_notify(0, "READY=1");

	while ((client = accept(listener, NULL, NULL)) >= 0) {
		if (read(client, request, sizeof(request)) > 0)
			dprintf(client, "%s\n", argv[2]);
		close(client);
	}
	err(1, "cannot accept a connection");
}
