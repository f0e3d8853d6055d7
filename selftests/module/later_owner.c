// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that was shown and is still held, by a pipe, a socket or an RDMA device:
 * after its extent was removed it never shows the values of a later owner.
 */
#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "selftests/lib/device.h"
#include "selftests/lib/loopback.h"
#include "selftests/lib/namespace.h"
#include "selftests/lib/quarantine.h"
#include "selftests/lib/slab.h"

/* Entries of the per-CPU map that takes over free per-CPU memory. */
#define ENTRIES 2048
#define MARKER 0x6b72616d6b72616dull

/* The first 16 bytes of struct pcpu_lstats, and of each later owner. */
#define LENGTH 16

struct shown {
	char name[IFNAMSIZ];
	int region;
	const char *address;
	size_t capacity;
	struct dart_zero_extent extent;
};

/* A new device, which counts nothing, and a window on its counters. */
static void show(struct shown *shown, const char *name)
{
	int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	char command[64];

	snprintf(shown->name, sizeof(shown->name), "%s", name);
	snprintf(command, sizeof(command), "ip link add %s type dummy", name);
	assert_int_equal(system(command), 0);
	shown->region = device_open();
	shown->capacity = device_info(shown->region).capacity;
	shown->address = device_map(shown->region);
	assert_int_equal(device_add_selected(shown->region, DART_ZERO_SOURCE_NETDEV, net,
					     if_nametoindex(name), &shown->extent),
			 0);
	assert_true(shown->extent.length >= LENGTH);
	close(net);
}

static char *first_copy(const struct shown *shown)
{
	return (char *)shown->address + shown->extent.data;
}

static void end_by_remove(struct shown *shown)
{
	assert_int_equal(device_remove(shown->region, shown->extent.id), 0);
}

static void end_by_close(struct shown *shown)
{
	assert_int_equal(munmap((void *)shown->address, shown->capacity), 0);
	close(shown->region);
	shown->region = -1;
}

/* The device frees its counters before this returns. */
static void delete_device(const struct shown *shown)
{
	char command[64];

	snprintf(command, sizeof(command), "ip link delete %s", shown->name);
	assert_int_equal(system(command), 0);
}

static void discard(struct shown *shown)
{
	if (shown->region >= 0)
		end_by_close(shown);
}

/* Takes the per-CPU memory that is free, in pieces of 8 bytes. */
static int take_free_memory(void)
{
	int cpus = libbpf_num_possible_cpus();
	int map = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "later_owner", 4, 8, ENTRIES, NULL);
	uint64_t values[cpus];

	assert_true(map >= 0);
	for (int i = 0; i < cpus; i++)
		values[i] = MARKER;
	for (uint32_t key = 0; key < ENTRIES; key++)
		assert_int_equal(bpf_map_update_elem(map, &key, values, 0), 0);
	return map;
}

static void assert_unchanged(const char bytes[LENGTH])
{
	static const char zeros[LENGTH];

	assert_memory_equal(bytes, zeros, LENGTH);
}

/* A pipe that holds the first copy. */
static int hold_in_pipe(const struct shown *shown, int ends[2])
{
	struct iovec bytes = { first_copy(shown), LENGTH };

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	return vmsplice(ends[1], &bytes, 1, 0);
}

static void read_all(int fd, char *bytes, size_t length)
{
	while (length) {
		ssize_t got = read(fd, bytes, length);

		assert_true(got > 0);
		bytes += got;
		length -= got;
	}
}

/* Two ends of a TCP connection over lo, of which the second receives little. */
static void connect_tcp(int ends[2])
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int few = 4096, many = 4 << 20, on = 1;
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);

	loopback_up();
	assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few)), 0);
	assert_int_equal(bind(listener, (void *)&address, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (void *)&address, &size), 0);
	ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &many, sizeof(many)), 0);
	assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)), 0);
	assert_int_equal(connect(ends[0], (void *)&address, size), 0);
	ends[1] = accept(listener, NULL, NULL);
	assert_true(ends[1] >= 0);
	close(listener);
}

/* Bytes that fill the receiver's window: later bytes stay queued. */
#define AHEAD (128 << 10)

/* A socket that holds the first copy until the receiver has read AHEAD bytes. */
static void hold_in_socket(const struct shown *shown, int ends[2])
{
	char *ahead = calloc(1, AHEAD);

	assert_non_null(ahead);
	connect_tcp(ends);
	assert_int_equal(send(ends[0], ahead, AHEAD, 0), AHEAD);
	assert_int_equal(send(ends[0], first_copy(shown), LENGTH, MSG_ZEROCOPY), LENGTH);
	free(ahead);
}

static void read_behind(int receiver, char bytes[LENGTH])
{
	char *ahead = malloc(AHEAD);

	assert_non_null(ahead);
	read_all(receiver, ahead, AHEAD);
	read_all(receiver, bytes, LENGTH);
	free(ahead);
}

static void close_both(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static void test_references(void **state)
{
	struct shown piped, piped_closed, sent, sent_closed;
	int pipes[2][2], sockets[2][2], observer = device_open(), map;
	char bytes[LENGTH];

	show(&piped, "later0");
	show(&piped_closed, "later1");
	show(&sent, "later2");
	show(&sent_closed, "later3");
	assert_int_equal(hold_in_pipe(&piped, pipes[0]), LENGTH);
	assert_int_equal(hold_in_pipe(&piped_closed, pipes[1]), LENGTH);
	hold_in_socket(&sent, sockets[0]);
	hold_in_socket(&sent_closed, sockets[1]);
	end_by_remove(&piped);
	end_by_close(&piped_closed);
	end_by_remove(&sent);
	end_by_close(&sent_closed);
	delete_device(&piped);
	delete_device(&piped_closed);
	delete_device(&sent);
	delete_device(&sent_closed);
	map = take_free_memory();

	for (int i = 0; i < 2; i++) {
		read_all(pipes[i][0], bytes, LENGTH);
		assert_unchanged(bytes);
		read_behind(sockets[i][1], bytes);
		assert_unchanged(bytes);
	}
	for (int i = 0; i < 2; i++) {
		close_both(pipes[i]);
		close_both(sockets[i]);
	}
	discard(&piped);
	discard(&sent);
	quarantine_ends(observer);
	close(observer);
	close(map);
}

static void test_pins(void **state)
{
	struct loopback *loopback = loopback__new();
	struct ibv_mr *removed_mr, *closed_mr;
	struct shown removed, closed;
	int observer = device_open(), map;

	show(&removed, "later0");
	show(&closed, "later1");
	removed_mr = ibv_reg_mr(loopback->pd, first_copy(&removed), LENGTH, IBV_ACCESS_REMOTE_READ);
	closed_mr = ibv_reg_mr(loopback->pd, first_copy(&closed), LENGTH, IBV_ACCESS_REMOTE_READ);
	assert_non_null(removed_mr);
	assert_non_null(closed_mr);
	end_by_remove(&removed);
	end_by_close(&closed);
	delete_device(&removed);
	delete_device(&closed);
	map = take_free_memory();

	assert_unchanged(loopback__read(loopback, (uintptr_t)removed_mr->addr,
					removed_mr->rkey, LENGTH));
	assert_unchanged(loopback__read(loopback, (uintptr_t)closed_mr->addr,
					closed_mr->rkey, LENGTH));
	assert_int_equal(ibv_dereg_mr(removed_mr), 0);
	assert_int_equal(ibv_dereg_mr(closed_mr), 0);
	discard(&removed);
	quarantine_ends(observer);
	close(observer);
	close(map);
	loopback__free(loopback);
}

/* A pipe holds the pages of two slices while their slab goes to another region. */
static void test_slab(void **state)
{
	struct dart_zero_slice free_one, used, kept, next;
	struct dart_zero_adoption adoption;
	struct dart_zero_extent slab;
	int region = device_open(), pipes[2][2];
	uint64_t capacity = device_info(region).capacity;
	const char *address = device_map(region);
	volatile uint64_t *memory;
	char bytes[LENGTH];

	slab_new(region, 3, &slab);
	assert_int_equal(slice_new(region, slab.id, 1, &free_one), 0);
	assert_int_equal(slice_new(region, slab.id, 1, &used), 0);
	assert_int_equal(slice_new(region, slab.id, 1, &kept), 0);
	for (int i = 0; i < 2; i++) {
		struct iovec held = {
			(char *)address + (i ? used.data : free_one.data),
			LENGTH,
		};

		assert_int_equal(pipe2(pipes[i], O_CLOEXEC), 0);
		assert_int_equal(vmsplice(pipes[i][1], &held, 1, 0), LENGTH);
	}
	close(free_one.fd);
	munmap((void *)address, capacity);
	close(region);

	region = device_open();
	assert_int_equal(slice_adopt(region, kept.fd, &adoption), 0);
	close(used.fd);
	while (!slice_new(region, adoption.slab.id, 1, &next)) {
		memory = slice_map(&next);
		memory[0] = MARKER;
		memory[1] = MARKER;
		close(next.fd);
		munmap((void *)memory, PAGE);
	}
	for (int i = 0; i < 2; i++) {
		read_all(pipes[i][0], bytes, LENGTH);
		assert_unchanged(bytes);
		close_both(pipes[i]);
	}
	close(kept.fd);
	close(region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("memory that a pipe (vmsplice) or a socket (MSG_ZEROCOPY) holds shows no later owner after REMOVE or close, and is released within 5 s",
		     test_references),
		TEST("memory that is registered for RDMA shows no later owner after REMOVE or close, and is released within 5 s",
		     test_pins),
		TEST("pages of slices that a pipe holds are not lent by another region that adopts their slab",
		     test_slab),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
