// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probes cgroupnet and tcpconn when few rows are left: objects without a row get
 * one that comes free, and objects for which no room is left cost no row.  The probe biolat when it
 * can track few requests: it counts the others.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "biolat.skel.h"
#include "cgroupnet.skel.h"
#include "selftests/lib/test.h"
#include "tcpconn.skel.h"

#define ROOT "/sys/fs/cgroup"
#define CGROUPS 4096
#define CONNECTIONS 16384

/* As in the programs. */
struct usage {
	uint64_t in_use, without_row, unknown;
};

/* The variable @name of the programs; a skeleton does not show static variables. */
static uint32_t *variable(struct bpf_object *object, void *data, const char *name)
{
	struct btf *btf = bpf_object__btf(object);
	int id = btf__find_by_name_kind(btf, ".bss", BTF_KIND_DATASEC);
	const struct btf_type *section = btf__type_by_id(btf, id);
	const struct btf_var_secinfo *variables = btf_var_secinfos(section);

	for (uint16_t i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *type = btf__type_by_id(btf, variables[i].type);

		if (!strcmp(btf__name_by_offset(btf, type->name_off), name))
			return (uint32_t *)((char *)data + variables[i].offset);
	}
	fail_msg("no variable %s", name);
	return NULL;
}

static void lookup(struct bpf_object *object, const char *map, uint32_t key, void *value)
{
	int fd = bpf_object__find_map_fd_by_name(object, map);

	assert_int_equal(bpf_map_lookup_elem(fd, &key, value), 0);
}

static void enter(const char *cgroup)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(write(fd, "0", 1), 1);
	close(fd);
}

/* A socket of @cgroup that sent a packet. */
static void send_one(int fd)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	/* A call that fails with ECONNREFUSED takes the error of the previous packet. */
	sendto(fd, "x", 1, 0, (const void *)&address, sizeof(address));
	sendto(fd, "x", 1, 0, (const void *)&address, sizeof(address));
}

static int socket_in(const char *cgroup)
{
	int fd;

	enter(cgroup);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	enter(ROOT);
	send_one(fd);
	return fd;
}

static uint64_t id_of(const char *cgroup)
{
	struct stat status;

	assert_int_equal(stat(cgroup, &status), 0);
	return status.st_ino;
}

static bool has_row(struct bpf_object *object, const char *cgroup)
{
	uint64_t row[8];

	for (uint32_t i = CGROUPS - 4; i < CGROUPS; i++) {
		lookup(object, "cgroupnet", i, row);
		if (row[0] && row[1] == id_of(cgroup))
			return true;
	}
	return false;
}

/* Sockets of two cgroups, whose packets the probe saw. */
struct cgroups {
	struct cgroupnet_bpf *probe;
	int root, first, second;
};

/* The probe is open. */
static void cgroups_begin(struct cgroups *cgroups)
{
	struct cgroupnet_bpf *probe = cgroups->probe;

	assert_int_equal(cgroupnet_bpf__load(probe), 0);
	cgroups->root = open(ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	probe->links.dart_ingress =
		bpf_program__attach_cgroup(probe->progs.dart_ingress, cgroups->root);
	probe->links.dart_egress =
		bpf_program__attach_cgroup(probe->progs.dart_egress, cgroups->root);
	probe->links.dart_cgroup_rmdir = bpf_program__attach(probe->progs.dart_cgroup_rmdir);
	probe->links.dart_cgroup_release = bpf_program__attach(probe->progs.dart_cgroup_release);
	assert_non_null(probe->links.dart_ingress);
	assert_non_null(probe->links.dart_egress);
	assert_non_null(probe->links.dart_cgroup_rmdir);
	assert_non_null(probe->links.dart_cgroup_release);

	assert_int_equal(mkdir(ROOT "/first", 0755), 0);
	assert_int_equal(mkdir(ROOT "/second", 0755), 0);
	close(socket_in(ROOT));
	cgroups->first = socket_in(ROOT "/first");
	cgroups->second = socket_in(ROOT "/second");
}

static void cgroups_remove_first(struct cgroups *cgroups)
{
	close(cgroups->first);
	assert_int_equal(rmdir(ROOT "/first"), 0);
}

/* The first was removed. */
static void cgroups_end(struct cgroups *cgroups)
{
	close(cgroups->second);
	assert_int_equal(rmdir(ROOT "/second"), 0);
	cgroupnet_bpf__destroy(cgroups->probe);
	close(cgroups->root);
}

static void assert_usage(struct bpf_object *object, const char *map, uint64_t in_use,
			 uint64_t without_row, uint64_t unknown)
{
	struct usage usage;

	lookup(object, map, 0, &usage);
	assert_int_equal(usage.in_use, in_use);
	assert_int_equal(usage.without_row, without_row);
	assert_int_equal(usage.unknown, unknown);
}

static void test_cgroups(void **state)
{
	struct cgroups cgroups = { .probe = cgroupnet_bpf__open() };
	struct cgroupnet_bpf *probe = cgroups.probe;

	assert_non_null(probe);
	/* Two rows are left: one for the root cgroup, one for the first. */
	*variable(probe->obj, probe->bss, "fresh_rows") = CGROUPS - 2;
	cgroups_begin(&cgroups);
	assert_true(has_row(probe->obj, ROOT "/first"));
	assert_false(has_row(probe->obj, ROOT "/second"));
	assert_usage(probe->obj, "cgroupnet_rows", 2, 1, 0);

	cgroups_remove_first(&cgroups);
	send_one(cgroups.second);
	assert_true(has_row(probe->obj, ROOT "/second"));
	assert_usage(probe->obj, "cgroupnet_rows", 2, 0, 0);
	cgroups_end(&cgroups);
}

static void test_too_many_cgroups(void **state)
{
	struct cgroups cgroups = { .probe = cgroupnet_bpf__open() };
	struct cgroupnet_bpf *probe = cgroups.probe;
	char bss[4096];
	size_t fresh;
	uint32_t before;

	assert_non_null(probe);
	assert_in_range(bpf_map__value_size(probe->maps.bss), 1, sizeof(bss));
	fresh = (char *)variable(probe->obj, probe->bss, "fresh_rows") - (char *)probe->bss;
	/* Room for the root cgroup alone. */
	assert_int_equal(bpf_map__set_max_entries(probe->maps.row_of_cgroup, 1), 0);
	cgroups_begin(&cgroups);
	lookup(probe->obj, ".bss", 0, bss);
	memcpy(&before, bss + fresh, sizeof(before));
	for (int i = 0; i < 10; i++) {
		send_one(cgroups.first);
		send_one(cgroups.second);
	}
	lookup(probe->obj, ".bss", 0, bss);
	assert_memory_equal(bss + fresh, &before, sizeof(before));
	/* Two packets of each socket, before the loop and in each round of it. */
	assert_usage(probe->obj, "cgroupnet_rows", 1, 0, 2 * 2 * 11);
	cgroups_remove_first(&cgroups);
	cgroups_end(&cgroups);
}

/* Cgroups that were removed, as by a container that ended, while sockets of them are still open. */
#define REMOVED 20

static void test_removed_cgroups(void **state)
{
	struct cgroups cgroups = { .probe = cgroupnet_bpf__open() };
	struct cgroupnet_bpf *probe = cgroups.probe;
	int sockets[REMOVED], i;

	assert_non_null(probe);
	/* Room for the root cgroup, two others, and one more. */
	assert_int_equal(bpf_map__set_max_entries(probe->maps.row_of_cgroup, 4), 0);
	*variable(probe->obj, probe->bss, "fresh_rows") = CGROUPS - 4;
	cgroups_begin(&cgroups);
	for (i = 0; i < REMOVED; i++) {
		assert_int_equal(mkdir(ROOT "/ends", 0755), 0);
		sockets[i] = socket_in(ROOT "/ends");
		assert_true(has_row(probe->obj, ROOT "/ends"));
		assert_int_equal(rmdir(ROOT "/ends"), 0);
		assert_usage(probe->obj, "cgroupnet_rows", 3, 0, 0);
	}
	send_one(sockets[REMOVED - 1]);
	assert_usage(probe->obj, "cgroupnet_rows", 3, 0, 0);
	for (i = 0; i < REMOVED; i++)
		close(sockets[i]);
	cgroups_remove_first(&cgroups);
	cgroups_end(&cgroups);
}

/* Both ends of a connection over which a byte was sent. */
static void connect_pair(int listener, int ends[2])
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	char byte;

	assert_int_equal(getsockname(listener, (void *)&address, &size), 0);
	ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(ends[0], (void *)&address, size), 0);
	ends[1] = accept(listener, NULL, NULL);
	assert_true(ends[1] >= 0);
	assert_int_equal(write(ends[0], "x", 1), 1);
	assert_int_equal(read(ends[1], &byte, 1), 1);
}

static void test_connections(void **state)
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct linger reset = { .l_onoff = 1 };
	struct tcpconn_bpf *probe = tcpconn_bpf__open();
	struct sockaddr_in loopback = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int first[2], second[2];
	char byte;

	assert_non_null(probe);
	assert_int_equal(bind(listener, (void *)&loopback, sizeof(loopback)), 0);
	assert_int_equal(listen(listener, 2), 0);
	*variable(probe->obj, probe->bss, "fresh_rows") = CONNECTIONS - 2;
	assert_int_equal(tcpconn_bpf__load(probe), 0);
	assert_int_equal(tcpconn_bpf__attach(probe), 0);
	connect_pair(listener, first);
	connect_pair(listener, second);
	assert_usage(probe->obj, "tcpconn_rows", 2, 2, 0);

	/* A reset closes both ends at once. */
	assert_int_equal(setsockopt(first[0], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
	close(first[0]);
	close(first[1]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(write(second[i], "x", 1), 1);
		assert_int_equal(read(second[!i], &byte, 1), 1);
	}
	assert_usage(probe->obj, "tcpconn_rows", 2, 0, 0);

	close(second[0]);
	close(second[1]);
	close(listener);
	tcpconn_bpf__destroy(probe);
}

/* ---- requests */

#define REQUESTS 10
#define TRACKED 4
#define BLOCK 4096
/* ns from the issue of a request until the device completes it. */
#define COMPLETION "2000000000"

/* As in the program; the histograms have 32 buckets. */
struct latencies {
	uint64_t read[32], write[32], other[32], queued[32], untracked;
} __attribute__((aligned(64)));

static struct latencies sum_of_cpus(struct bpf_object *object, int cpus)
{
	struct latencies sum = {}, row;
	int cpu, i;

	for (cpu = 0; cpu < cpus; cpu++) {
		lookup(object, "biolat", cpu, &row);
		for (i = 0; i < 32; i++) {
			sum.read[0] += row.read[i];
			sum.queued[0] += row.queued[i];
		}
		sum.untracked += row.untracked;
	}
	return sum;
}

/* Reads that are at the device at a time. */
static void read_at_once(const char *device)
{
	static char block[BLOCK] __attribute__((aligned(BLOCK)));
	const int fd = open(device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	struct iocb request = {
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = fd,
		.aio_buf = (uintptr_t)block,
		.aio_nbytes = BLOCK,
	}, *requests = &request;
	struct io_event events[REQUESTS];
	aio_context_t context = 0;
	int i;

	assert_true(fd >= 0);
	assert_int_equal(syscall(SYS_io_setup, REQUESTS, &context), 0);
	for (i = 0; i < REQUESTS; i++) {
		/* The kernel would merge reads that follow one another. */
		request.aio_offset = 2 * i * BLOCK;
		assert_int_equal(syscall(SYS_io_submit, context, 1, &requests), 1);
	}
	assert_int_equal(syscall(SYS_io_getevents, context, REQUESTS, REQUESTS, events, NULL),
			 REQUESTS);
	assert_int_equal(syscall(SYS_io_destroy, context), 0);
	close(fd);
}

static void test_requests(void **state)
{
	struct biolat_bpf *probe = biolat_bpf__open();
	const int cpus = libbpf_num_possible_cpus();
	struct latencies sum;

	assert_non_null(probe);
	if (system("modprobe -r -q null_blk; modprobe null_blk nr_devices=1 irqmode=2 "
		   "completion_nsec=" COMPLETION))
		fail_msg("null_blk cannot be loaded");
	assert_int_equal(bpf_map__set_max_entries(probe->maps.biolat, cpus), 0);
	assert_int_equal(bpf_map__set_max_entries(probe->maps.issued, TRACKED), 0);
	assert_int_equal(biolat_bpf__load(probe), 0);
	assert_int_equal(biolat_bpf__attach(probe), 0);
	read_at_once("/dev/nullb0");
	sum = sum_of_cpus(probe->obj, cpus);
	assert_int_equal(sum.read[0], TRACKED);
	assert_int_equal(sum.untracked, REQUESTS - TRACKED);
	assert_int_equal(sum.queued[0], REQUESTS);
	biolat_bpf__destroy(probe);
	assert_int_equal(system("modprobe -r null_blk"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a cgroup that found no row in cgroupnet gets the one of a cgroup that is removed",
		     test_cgroups),
		TEST("packets of cgroups that cgroupnet has no room to know take no row",
		     test_too_many_cgroups),
		TEST("removed cgroups with open sockets make room for new cgroups",
		     test_removed_cgroups),
		TEST("connections that found no row in tcpconn get those of connections that end",
		     test_connections),
		TEST("requests that biolat has no room to track are counted", test_requests),
	};

	if (system("ip link set lo up"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
