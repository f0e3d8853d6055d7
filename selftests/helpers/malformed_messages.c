// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invalid messages to the registration socket: each gets a refusal or ends the
 * connection, and the lists of entries and stores do not change.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <dart/registration.h>

#include "selftests/lib/registration.h"
#include "selftests/lib/test.h"

static int setup(void **state)
{
	*state = registration__list();
	return 0;
}

static int teardown(void **state)
{
	char *after = registration__list();

	assert_string_equal(*state, after);
	free(after);
	free(*state);
	return 0;
}

/* The reply is a refusal, or the agent disconnected without a reply. */
static void assert_refused(int socket)
{
	json_t *reply = registration__reply(socket);

	if (reply) {
		assert_false(registration__is_ok(reply));
		assert_string_not_equal(json_string_value(json_object_get(reply, "error")), "");
		assert_string_not_equal(json_string_value(json_object_get(reply, "message")), "");
	}
	json_decref(reply);
}

static void test_requests(void **state)
{
	static const char *const requests[] = {
		"\n",
		"{}\n",
		"[]\n",
		"null\n",
		"no JSON\n",
		"{\"request\": \"list\"\n",
		"{\"request\": \"list\"} {\"request\": \"list\"}\n",
		"{\"request\": \"list\", \"request\": \"list\"}\n",
		"{\"request\": 7}\n",
		"{\"request\": \"\"}\n",
		"{\"request\": \"explode\"}\n",
		"{\"request\": \"list\", \"more\": 1}\n",
		"{\"request\": \"show\"}\n",
		"{\"request\": \"show\", \"name\": \"absent\"}\n",
		"{\"request\": \"show\", \"name\": [\"cpustat\"]}\n",
		"{\"request\": \"unregister\"}\n",
		"{\"request\": \"unregister\", \"name\": \"absent\"}\n",
		"{\"request\": \"unregister\", \"name\": \"cpustat\", \"x\": 1}\n",
		"{\"request\": \"register-source\"}\n",
		"{\"request\": \"register-source\", \"source\": \"\"}\n",
		"{\"request\": \"register-source\", \"source\": \"absent\"}\n",
		"{\"request\": \"register-source\", \"source\": 1}\n",
		"{\"request\": \"register-source\", \"source\": \"cpustat\"}\n",
		"{\"request\": \"register-source\", \"source\": \"cgroup:cpu\"}\n",
		"{\"request\": \"register-source\", \"source\": \"cgroup:cpu\", \"cgroup\": \"/a\"}\n",
		"{\"request\": \"register-source\", \"source\": \"snmp:tcp\", \"netns\": \"a\"}\n",
		"{\"request\": \"register-source\", \"source\": \"snmp:tcp\", \"netdev\": \"lo\"}\n",
		"{\"request\": \"register-source\", \"source\": \"netdev:stats\", \"netdev\": \"\"}\n",
		"{\"request\": \"register-source\", \"source\": \"netdev:stats\", \"netdev\": \"0123456789abcdef\"}\n",
		"{\"request\": \"register-source\", \"source\": \"vmstat\", \"disk\": \"vda\"}\n",
		"{\"request\": \"source-plan\", \"source\": \"snmp:tcp\"}\n",
		"{\"request\": \"source-plan\", \"source\": \"absent\", \"interval\": \"1s\"}\n",
		"{\"request\": \"source-plan\", \"source\": \"snmp:tcp\", \"interval\": 1}\n",
		"{\"request\": \"source-plan\", \"source\": \"snmp:tcp\", \"interval\": \"\"}\n",
		"{\"request\": \"source-plan\", \"source\": \"cgroup:cpu\", \"interval\": \"1s\", \"cgroup\": \"/a\"}\n",
		"{\"request\": \"source-plan\", \"source\": \"snmp:tcp\", \"interval\": \"1s\", \"objects\": -1}\n",
		"{\"request\": \"source-plan\", \"source\": \"snmp:tcp\", \"interval\": \"1s\", \"objects\": \"2\"}\n",
		"{\"request\": \"follow-source\"}\n",
		"{\"request\": \"follow-source\", \"source\": \"cpustat\"}\n",
		"{\"request\": \"follow-source\", \"source\": \"cgroup:cpu\"}\n",
		"{\"request\": \"follow-source\", \"source\": \"cgroup:cpu\", \"cgroup\": \"/a\"}\n",
		"{\"request\": \"probe-load\"}\n",
		"{\"request\": \"probe-load\", \"name\": 1}\n",
		"{\"request\": \"probe-unload\", \"name\": \"\"}\n",
		"{\"request\": \"probe-list\", \"name\": \"tcp\"}\n",
		"{\"request\": \"register-map\"}\n",
		"{\"request\": \"register-map\", \"name\": \"none\"}\n",
		"{\"request\": \"store-create\"}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4}\n",
		"{\"request\": \"store-create\", \"name\": \"\", \"slots_log2\": 4, \"value_length\": 4}\n",
		"{\"request\": \"store-create\", \"name\": \"\\u001b[2J\", \"slots_log2\": 4, \"value_length\": 4}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": -1, \"value_length\": 4}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"transport\": \"ud\"}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"transport\": 1}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 64, \"value_length\": 4}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4294967296, \"value_length\": 4}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4.5, \"value_length\": 4}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4294967300}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"checksum_bits\": 0}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"redundancy\": 0}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"file\": \"/dev/shm/a\"}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"epoch_ns\": -1}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"epoch_ns\": 1}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"epoch_reports\": -1}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"epoch_ns\": 1000000000, \"epoch_reports\": 1}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"epoch_ns\": 1000000000, \"keep_ns\": -1}\n",
		"{\"request\": \"store-create\", \"name\": \"bad\", \"slots_log2\": 4, \"value_length\": 4, \"keep_ns\": 1}\n",
		"{\"request\": \"store-rotate\", \"name\": \"good\"}\n",
		"{\"request\": \"epoch-list\", \"name\": \"good\"}\n",
		"{\"request\": \"epoch-list\"}\n",
		"{\"request\": \"epoch-open\", \"name\": \"good\", \"since_ns\": 1}\n",
		"{\"request\": \"epoch-open\", \"name\": \"good\"}\n",
		"{\"request\": \"store-delete\", \"name\": \"absent\"}\n",
		"{\"request\": \"store-open\"}\n",
		"{\"request\": \"store-open\", \"name\": \"absent\"}\n",
		"{\"request\": \"store-export\", \"name\": \"absent\"}\n",
		"{\"request\": \"store-list\", \"name\": \"absent\"}\n",
		"{\"request\": \"reporter-add\", \"store\": \"good\"}\n",
		"{\"request\": \"reporter-add\", \"store\": \"absent\", \"address\": \"10.77.0.2\"}\n",
		"{\"request\": \"reporter-add\", \"store\": \"good\", \"address\": 1}\n",
		"{\"request\": \"reporter-add\", \"store\": \"good\", \"address\": \"\"}\n",
		"{\"request\": \"reporter-add\", \"store\": \"good\", \"address\": \"0.0.0.0\"}\n",
		"{\"request\": \"reporter-add\", \"store\": \"good\", \"address\": \"10.77.0.2 \"}\n",
		"{\"request\": \"reporter-remove\", \"store\": \"good\", \"address\": \"10.77.0.2\"}\n",
		"{\"request\": \"reporter-list\", \"store\": \"absent\"}\n",
		"{\"request\": \"journal-create\", \"name\": \"bad\", \"batches_log2\": 0, \"entry_length\": 4}\n",
		"{\"request\": \"journal-create\", \"name\": \"bad\", \"batches_log2\": 21, \"entry_length\": 4}\n",
		"{\"request\": \"journal-create\", \"name\": \"bad\", \"batches_log2\": 4, \"entry_length\": 65}\n",
		"{\"request\": \"journal-create\", \"name\": \"bad\", \"batches_log2\": 4, \"entry_length\": 49, \"batch_log2\": 6}\n",
		"{\"request\": \"journal-create\", \"name\": \"bad\", \"batches_log2\": 4, \"entry_length\": 4, \"lists_log2\": 4294967296}\n",
		"{\"request\": \"journal-create\", \"name\": \"bad\", \"batches_log2\": 4, \"entry_length\": 4, \"parts\": 0}\n",
		"{\"request\": \"journal-open\", \"name\": \"absent\"}\n",
		"{\"request\": \"appender-add\", \"journal\": \"absent\", \"address\": \"10.77.0.2\"}\n",
		"{\"request\": \"ledger-create\", \"name\": \"bad\", \"words_log2\": 3}\n",
		"{\"request\": \"ledger-create\", \"name\": \"bad\", \"words_log2\": 4294967300}\n",
		"{\"request\": \"ledger-create\", \"name\": \"bad\", \"words_log2\": 4, \"rows\": 0}\n",
		"{\"request\": \"ledger-create\", \"name\": \"bad\", \"words_log2\": 4, \"rows\": 9}\n",
		"{\"request\": \"ledger-open\", \"name\": \"absent\"}\n",
		"{\"request\": \"adder-add\", \"ledger\": \"absent\", \"address\": \"10.77.0.2\"}\n",
		"{\"request\": \"adder-renew\", \"ledger\": \"absent\", \"address\": \"10.77.0.2\"}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 3}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 21}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 4294967300}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 4, \"rows\": 0}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 4, \"rows\": 9}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 4, \"kind\": \"other\"}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 4, \"kind\": 0}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 4, \"period\": 0}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 4, \"period\": 3601}\n",
		"{\"request\": \"sketch-create\", \"name\": \"bad\", \"columns_log2\": 4, \"parts\": 65}\n",
		"{\"request\": \"sketch-open\", \"name\": \"absent\"}\n",
		"{\"request\": \"sketcher-add\", \"sketch\": \"absent\", \"address\": \"10.77.0.2\"}\n",
		"\xff\xfe\xfd\n",
		"{\"request\": \"list\", \"\\u0000\": 1}\n",
	};

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		int socket = registration__connect();

		registration__send(socket, requests[i], strlen(requests[i]), NULL, 0);
		assert_refused(socket);
		close(socket);
	}
}

static void test_too_long(void **state)
{
	size_t length = 3 * DART_REGISTRATION_REQUEST_MAX;
	char *request = malloc(length);
	int socket = registration__connect();

	assert_non_null(request);
	memset(request, ' ', length);
	memcpy(request, "{\"request\": \"list\"}", 19);
	request[length - 1] = '\n';
	registration__send(socket, request, length, NULL, 0);
	assert_refused(socket);
	free(request);
	close(socket);
}

static void test_unfinished(void **state)
{
	int socket = registration__connect();

	registration__send(socket, "{\"request\": \"unregister\"", 24, NULL, 0);
	close(socket);
}

/* Descriptors where the agent expects none, one or another kind. */
static void test_file_descriptors(void **state)
{
	static const char request[] = "{\"request\": \"register-map\"}\n";
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int good = bpf_map_create(BPF_MAP_TYPE_ARRAY, "good", 4, 8, 1, &options);
	int plain = bpf_map_create(BPF_MAP_TYPE_ARRAY, "plain", 4, 8, 1, NULL);
	int hash = bpf_map_create(BPF_MAP_TYPE_HASH, "hash", 4, 8, 1, NULL);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	static const char *const selected[] = {
		"{\"request\": \"register-source\", \"source\": \"vmstat\"}\n",
		"{\"request\": \"register-source\", \"source\": \"snmp:tcp\"}\n",
		"{\"request\": \"register-source\", \"source\": \"snmp:tcp\", \"netns\": \"a\"}\n",
		"{\"request\": \"register-source\", \"source\": \"netdev:core\", \"netns\": \"a\", \"netdev\": \"lo\"}\n",
		"{\"request\": \"register-source\", \"source\": \"disk:stats\", \"disk\": \"a\"}\n",
		"{\"request\": \"register-source\", \"source\": \"cgroup:cpu\", \"cgroup\": \"/a\"}\n",
		"{\"request\": \"source-plan\", \"source\": \"snmp:tcp\", \"interval\": \"1s\", \"netns\": \"a\"}\n",
		"{\"request\": \"source-plan\", \"source\": \"cgroup:cpu\", \"interval\": \"1s\", \"cgroup\": \"/a\"}\n",
		"{\"request\": \"follow-source\", \"source\": \"snmp:tcp\"}\n",
		"{\"request\": \"follow-source\", \"source\": \"cgroup:cpu\", \"cgroup\": \"/a\"}\n",
	};
	static const char store[] = "{\"request\": \"store-create\", \"name\": \"bad\", "
				    "\"slots_log2\": 10, \"value_length\": 4, \"file\": \"f\"}\n";
	const int two[] = { good, good };
	const int wrong[] = { plain, hash, null };
	char too_long[DART_REGISTRATION_NAME_MAX + 1] = "";
	const char *const names[] = {
		"", "two words", "tab\\t", "\\u001b[2J", "\\u00e4", "cpustat", "$", too_long,
	};
	char text[512];
	int socket;

	assert_true(good >= 0 && plain >= 0 && hash >= 0);
	socket = registration__connect();
	registration__send(socket, request, sizeof(request) - 1, two, 2);
	assert_refused(socket);
	close(socket);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		socket = registration__connect();
		registration__send(socket, request, sizeof(request) - 1, &wrong[i], 1);
		assert_refused(socket);
		close(socket);
	}

	/* Neither a namespace nor a disk nor a cgroup. */
	for (size_t i = 0; i < sizeof(selected) / sizeof(selected[0]); i++) {
		socket = registration__connect();
		registration__send(socket, selected[i], strlen(selected[i]), &null, 1);
		assert_refused(socket);
		close(socket);
	}

	/* Files that cannot hold a store, either. */
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		socket = registration__connect();
		registration__send(socket, store, sizeof(store) - 1, &wrong[i], 1);
		assert_refused(socket);
		close(socket);
	}

	/* A good map under an invalid name or a name in use. */
	memset(too_long, 'n', DART_REGISTRATION_NAME_MAX);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		socket = registration__connect();
		snprintf(text, sizeof(text), "{\"request\": \"register-map\", \"name\": \"%s\"}\n",
			 names[i]);
		registration__send(socket, text, strlen(text), &good, 1);
		assert_refused(socket);
		close(socket);
	}
	close(good);
	close(plain);
	close(hash);
	close(null);
}

/* A valid request with three random bytes. */
static void test_random_damage(void **state)
{
	static const char request[] =
		"{\"request\": \"register-source\", \"source\": \"cpustat\"}\n";
	const unsigned int seed = 4792;
	unsigned int random = seed;

	print_message("# seed %u\n", seed);
	for (int round = 0; round < 1000; round++) {
		int socket = registration__connect();
		char damaged[sizeof(request)];

		memcpy(damaged, request, sizeof(request));
		for (int i = 0; i < 3; i++)
			damaged[rand_r(&random) % (sizeof(request) - 2)] = rand_r(&random);
		registration__send(socket, damaged, sizeof(request) - 1, NULL, 0);
		assert_refused(socket);
		close(socket);
	}
}

int main(void)
{
#define REFUSED(sentence, test) TEST_FIXTURE(sentence, test, setup, teardown)
	const struct CMUnitTest tests[] = {
		REFUSED("requests of wrong syntax, members or values are refused", test_requests),
		REFUSED("a request that is too long is refused", test_too_long),
		REFUSED("a request without an end is dropped with its connection", test_unfinished),
		REFUSED("unexpected, too many and wrong descriptors are refused",
			test_file_descriptors),
		REFUSED("1000 requests with random damage are refused", test_random_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
