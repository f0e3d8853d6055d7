// SPDX-License-Identifier: GPL-2.0-only
/*
 * registration_rounds N: registers and unregisters N maps and a source N times, then
 * waits until their leases end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "selftests/lib/registration.h"
#include "selftests/lib/test.h"

static int rounds;

static json_int_t leases(int socket)
{
	json_t *reply = registration__ask(socket, "{\"request\": \"status\"}\n", -1);
	json_t *status = json_object_get(reply, "status");
	json_int_t count;

	assert_true(json_is_integer(json_object_get(status, "leases")));
	count = json_integer_value(json_object_get(status, "leases"));
	json_decref(reply);
	return count;
}

static void ask(int socket, const char *request, int fd)
{
	json_t *reply = registration__ask(socket, request, fd);

	if (!registration__is_ok(reply))
		fail_msg("%s", json_dumps(reply, 0));
	json_decref(reply);
}

static void test_rounds(void **state)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int socket = registration__connect();

	for (int round = 0; round < rounds; round++) {
		int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "round", 4, 64, 512, &options);

		assert_true(map >= 0);
		ask(socket, "{\"request\": \"register-map\"}\n", map);
		ask(socket, "{\"request\": \"register-source\", \"source\": \"vmstat\"}\n", -1);
		ask(socket, "{\"request\": \"unregister\", \"name\": \"vmstat\"}\n", -1);
		ask(socket, "{\"request\": \"unregister\", \"name\": \"round\"}\n", -1);
		/* If closed earlier, the map would leave the table by itself. */
		close(map);
	}

	/* The end of a lease is not announced: look now and then. */
	for (int looks = 0; leases(socket) && looks < 300; looks++)
		usleep(100000);
	assert_int_equal(leases(socket), 0);
	close(socket);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST("maps and a source are registered and unregistered, and all leases end",
		     test_rounds),
	};

	if (argc != 2)
		return 2;
	rounds = atoi(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
