// SPDX-License-Identifier: GPL-2.0-only
/* The stream of a switch that publishes digests, on a local socket. */
#include <sys/socket.h>
#include <sys/un.h>

#include "fuzz.h"
#include "tools/dartctl/switch/thrift/digests.h"

#define BYTES_MAX	65536	/* that a socket takes without being read */
#define SAMPLE		5

static char address[128];

static int listener_new(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char directory[] = "/tmp/dart-fuzz.XXXXXX";
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	require(listener >= 0 && mkdtemp(directory));
	snprintf(name.sun_path, sizeof(name.sun_path), "%s/socket", directory);
	snprintf(address, sizeof(address), "ipc://%s", name.sun_path);
	require(!bind(listener, (void *)&name, sizeof(name)));
	require(!listen(listener, 1));
	return listener;
}

/* Nothing of a connection stays in the file system. */
static int connection(struct switch_digests **digests)
{
	const int listener = listener_new();
	const struct switch_digests_settings settings = {
		.address = address, .list = 1, .sample_length = SAMPLE,
	};
	char *path = address + strlen("ipc://");
	struct dart_error error = {};
	int socket;

	require(!switch_digests__open(&settings, digests, &error));
	socket = accept(listener, NULL, NULL);
	require(socket >= 0);
	close(listener);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	return socket;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct switch_digests *digests;
	struct dart_error error = {};
	const void *samples;
	uint32_t count;
	int socket, ret;

	if (size > BYTES_MAX)
		return 0;
	socket = connection(&digests);
	require(send(socket, data, size, 0) == (ssize_t)size);
	close(socket);
	while ((ret = switch_digests__next(digests, &samples, &count, &error)) > 0) {
		uint8_t *copy = exact_copy(samples, (size_t)count * SAMPLE);

		require(count);
		free(copy);
	}
	/* Everything was sent, so the stream ends. */
	require(ret < 0);
	require_sentence(&error);
	switch_digests__close(digests);
	return 0;
}
