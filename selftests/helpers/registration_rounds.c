// SPDX-License-Identifier: GPL-2.0-only
/*
 * registration_rounds N: registers and unregisters N maps and as often a
 * source, then waits until their leases have run out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/bpf.h>

#include "selftests/lib/registration.h"

static int rounds;

static json_int_t leases(int socket)
{
	json_t *reply = registration__ask(socket, "{\"request\": \"status\"}\n",
					  -1);
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
		int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "round", 4, 64,
					 512, &options);

		assert_true(map >= 0);
		ask(socket, "{\"request\": \"register-map\"}\n", map);
		ask(socket,
		    "{\"request\": \"register-source\", \"source\": \"vmstat\"}\n",
		    -1);
		ask(socket,
		    "{\"request\": \"unregister\", \"name\": \"vmstat\"}\n", -1);
		ask(socket,
		    "{\"request\": \"unregister\", \"name\": \"round\"}\n", -1);
		/* Closed before, it would be gone by itself. */
		close(map);
	}

	/* Nobody is told when a lease ends, so look now and then. */
	for (int looks = 0; leases(socket) && looks < 300; looks++)
		usleep(100000);
	assert_int_equal(leases(socket), 0);
	close(socket);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
	};

	if (argc != 2)
		return 2;
	rounds = atoi(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
