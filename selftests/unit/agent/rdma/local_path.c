// SPDX-License-Identifier: GPL-2.0-only
/* The address at which a reporter reaches a host with many addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "agent/rdma/local_path.h"
#include "selftests/unit/unit.h"

/* Valid GIDs of the device, of which only the last is the address of the loopback device. */
static size_t gid_count;

/* As the kernel: entries that do not fit are an error. */
ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			     size_t max_entries, uint32_t flags, size_t entry_size)
{
	const uint32_t loopback = htonl(INADDR_LOOPBACK);
	size_t i;

	if (gid_count > max_entries)
		return -EINVAL;
	for (i = 0; i < gid_count; i++) {
		entries[i] = (struct ibv_gid_entry){
			.gid.raw = { [10] = 0xff, [11] = 0xff, 10, 1, i >> 8, i },
			.gid_index = i,
			.port_num = 1,
			.ndev_ifindex = if_nametoindex("lo"),
			.gid_type = IBV_GID_TYPE_ROCE_V2,
		};
		if (i == gid_count - 1)
			memcpy(entries[i].gid.raw + 12, &loopback, sizeof(loopback));
	}
	return gid_count;
}

static void check(size_t count)
{
	struct ibv_context context;
	const struct device device = { .context = &context };
	const struct in_addr peer = { .s_addr = htonl(INADDR_LOOPBACK + 1) };
	struct local_path path;
	struct dart_error error;

	gid_count = count;
	if (local_path__find(&path, &device, peer, &error))
		fail_msg("%zu: %s", count, error.text);
	assert_int_equal(path.gid_index, count - 1);
	assert_int_equal(path.local.s_addr, htonl(INADDR_LOOPBACK));
}

/* Soft-RoCE has room for 1024. */
static void test_many(void **state)
{
	check(1);
	check(256);
	check(257);
	check(1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the GID of an address is found among a thousand", test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
