// SPDX-License-Identifier: GPL-2.0-only
/* store_checksum NAME: prints a checksum of all bytes of a store of dartd. */
#include <error.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <xxhash.h>

#include <dart/registration.h>
#include <libdart/registration/client.h>

int main(int argc, char *argv[])
{
	struct dart_registration_client client;
	struct dart_error problem;
	json_t *request, *reply;
	struct stat status;
	void *memory;
	int fd;

	if (argc != 2)
		error(2, 0, "usage: store_checksum NAME");
	request = json_pack("{s:s, s:s}", "request", "store-open", "name", argv[1]);
	if (dart_registration_client__open(&client, DART_REGISTRATION_SOCKET, &problem) ||
	    dart_registration_client__ask(&client, request, -1, &reply, &fd, &problem))
		error(1, 0, "%s", problem.text);
	if (fd < 0 || fstat(fd, &status))
		error(1, errno, "no descriptor of '%s'", argv[1]);
	memory = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		error(1, errno, "cannot map '%s'", argv[1]);
	printf("%016" PRIx64 "\n", XXH3_64bits(memory, status.st_size));
	json_decref(request);
	json_decref(reply);
	dart_registration_client__close(&client);
	return EXIT_SUCCESS;
}
