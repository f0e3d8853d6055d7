// SPDX-License-Identifier: GPL-2.0-only
/*
 * slice_churn: gets slices from the agent and closes each at once, as fast as the agent
 * permits, until it is killed.  Notifies that it is ready after the first, and prints
 * their number after each.
 */
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "selftests/lib/registration.h"
#include "selftests/lib/test.h"

int main(void)
{
	int socket = registration__connect();
	char request[256];

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned int i = 1;; i++) {
		/* A name is free again only after the slice has left the table. */
		snprintf(request, sizeof(request),
			 "{\"request\": \"new-slice\", \"name\": \"churn-%u\", "
			 "\"schema\": {\"name\": \"work\", \"length\": 8, "
			 "\"fields\": [{\"name\": \"done\", \"offset\": 0, "
			 "\"width\": 8, \"kind\": \"counter\"}]}}\n", i);
		registration__send(socket, request, strlen(request), NULL, 0);
		close(registration__reply_fd(socket));
		printf("%u\n", i);
		if (i == 1)
			sd_notify(0, "READY=1");
	}
}
