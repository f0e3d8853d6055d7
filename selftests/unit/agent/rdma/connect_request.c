// SPDX-License-Identifier: GPL-2.0-only
/* The private data of connect requests: which ones the agent takes, and which ones it refuses. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "selftests/unit/agent/serve/peer_services.h"
#include "selftests/unit/unit.h"

/* As the RDMA CM delivers @length bytes of @data. */
static struct connect_request request_of(const void *data, size_t length)
{
	const struct rdma_cm_event event = {
		.param.conn = {
			.private_data = data,
			.private_data_len = length,
		},
	};

	return connect_request__of(&event);
}

static void expect(const void *data, size_t length, const struct peer_kind *kind,
		   int ret, const char *words)
{
	struct connect_request request = request_of(data, length);
	const struct peer_service *service = connect_request__find(&request, services);
	struct dart_error error = {};

	assert_ptr_equal(service->kind, kind);
	assert_int_equal(connect_request__check(&request, service->kind, &error), ret);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" instead of \"%s\"", error.text, words);
}

/* 56 bytes, as InfiniBand and RoCE deliver them. */
union data {
	uint8_t bytes[56];
	struct dart_control_request controller;
	struct dart_store_request reader;
};

static union data controller(void)
{
	return (union data){ .controller = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
	} };
}

static void test_taken(void **state)
{
	union data data = controller();

	expect(&data, 16, &controllers, 0, "");
	expect(&data, 56, &controllers, 0, "");
	data.controller.interval_ms = htole32(60000);
	expect(&data, 56, &controllers, 0, "");
	data.reader = (struct dart_store_request){
		.magic = htole64(DART_STORE_ACCESS_MAGIC),
		.abi_version = htole32(DART_STORE_ACCESS_ABI_VERSION),
		.name = "paths",
	};
	expect(&data, 56, &readers, 0, "");
}

static void test_tail(void **state)
{
	size_t i;

	/* The mirror. */
	for (i = 16; i < 32; i++) {
		union data data = controller();

		data.bytes[i] = 1;
		expect(&data, i + 1, &controllers, 0, "");
		expect(&data, 56, &controllers, 0, "");
	}
	for (; i < 56; i++) {
		union data data = controller();

		data.bytes[i] = 1;
		expect(&data, 16, &controllers, 0, "");
		expect(&data, i, &controllers, 0, "");
		expect(&data, i + 1, &controllers, -EPROTO, "is not 0");
		expect(&data, 56, &controllers, -EPROTO, "is not 0");
	}
}

static void test_short(void **state)
{
	union data data = controller();
	size_t i;

	expect(NULL, 0, &controllers, -EPROTO, "not a controller");
	for (i = 0; i < 16; i++)
		expect(&data, i, &controllers, -EPROTO, "not a controller");
	data.reader.magic = htole64(DART_STORE_ACCESS_MAGIC);
	data.reader.abi_version = htole32(DART_STORE_ACCESS_ABI_VERSION);
	for (i = 8; i < 56; i++)
		expect(&data, i, &readers, -EPROTO, "not a reader");
}

static void test_header(void **state)
{
	union data data = controller();

	data.controller.magic++;
	expect(&data, 56, &controllers, -EPROTO, "not a controller");
	data = controller();
	data = (union data){ .reader = {
		.magic = htole64(DART_STORE_ACCESS_MAGIC),
		.abi_version = htole32(DART_STORE_ACCESS_ABI_VERSION),
		.reserved = 1,
		.name = "paths",
	} };
	/* Older agents say the same of an interval: controllers know these words. */
	expect(&data, 56, &readers, -EPROTO, DART_CONTROL_RESERVED "request is not 0");
	data = controller();
	/* The rest of another version is unknown. */
	data.controller.abi_version = htole32(77);
	data.bytes[32] = 1;
	expect(&data, 56, &controllers, -EPROTONOSUPPORT, "version 77");
}

/* More than fits into a request: the agent does not copy the rest. */
static void test_long(void **state)
{
	uint8_t bytes[255] = { };
	union data data = controller();

	memcpy(bytes, &data, sizeof(data));
	memset(bytes + 56, 0xff, sizeof(bytes) - 56);
	expect(bytes, sizeof(bytes), &controllers, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a controller's request of 16 bytes, padded with zeros or not, and a reader's of 56 are taken",
		     test_taken),
		TEST("a controller's request with any byte other than 0 after the mirror is refused",
		     test_tail),
		TEST("a request that is shorter than its kind's is refused", test_short),
		TEST("a request with another magic number, version or reserved member is refused with the reason",
		     test_header),
		TEST("private data that are longer than a request can be are not read beyond its end",
		     test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
