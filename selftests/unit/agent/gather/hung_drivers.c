// SPDX-License-Identifier: GPL-2.0-only
/* Devices whose drivers do not answer: how long dartd waits for them, and with how many threads. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <linux/netlink.h>

#include "agent/gather/own_sample.h"
#include "agent/region/mounts.h"
#include "selftests/unit/unit.h"

#define OBJECTS 20
#define NS_PER_MS 1000000

/* ---- a kernel with RDMA devices that does not answer about them */

static int kernel_ends[2 * OBJECTS];
static int kernel_end_count;
static bool answers;

/* Answers a question: there are no devices. */
static void answer(int kernel_end)
{
	const struct nlmsghdr end = { .nlmsg_len = sizeof(end), .nlmsg_type = NLMSG_DONE };

	assert_int_equal(send(kernel_end, &end, sizeof(end), MSG_NOSIGNAL), sizeof(end));
}

int socket(int family, int type, int protocol)
{
	int ends[2];

	if (family != AF_NETLINK || protocol != NETLINK_RDMA)
		return syscall(SYS_socket, family, type, protocol);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_in_range(kernel_end_count, 0, 2 * OBJECTS - 1);
	kernel_ends[kernel_end_count++] = ends[0];
	if (answers)
		answer(ends[0]);
	return ends[1];
}

int access(const char *path, int mode)
{
	return strcmp(path, "/sys/class/infiniband") ? syscall(SYS_access, path, mode) : 0;
}

/* Answers the questions so far, and from now on at once. */
static void let_kernel_answer(void)
{
	int i;

	for (i = 0; i < kernel_end_count; i++)
		answer(kernel_ends[i]);
	answers = true;
}

/* ---- mounts of which no server answers */

static int gate[2];
static const struct mount mount = { .device = 1, .source = "", .type = "", .path = "/" };

int mounts__watch(struct dart_error *error)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int mounts__watch_own(struct dart_error *error)
{
	return mounts__watch(error);
}

int mounts__read(struct mounts *mounts, struct dart_error *error)
{
	return 0;
}

int mounts__read_own(struct mounts *mounts, struct dart_error *error)
{
	return 0;
}

void mounts__free(struct mounts *mounts)
{
}

const struct mount *mounts__at(const struct mounts *mounts, const char *path)
{
	return &mount;
}

const struct mount *mounts__find(const struct mounts *mounts, unsigned int id)
{
	return &mount;
}

int statvfs(const char *restrict path, struct statvfs *restrict status)
{
	struct pollfd closed = { .fd = gate[0] };

	poll(&closed, 1, -1);
	*status = (struct statvfs){};
	return 0;
}

/* ---- tests */

static unsigned int count_threads(void)
{
	DIR *directory = opendir("/proc/self/task");
	const struct dirent *file;
	unsigned int count = 0;

	while ((file = readdir(directory)))
		count += *file->d_name != '.';
	closedir(directory);
	return count;
}

/* Each network device asks whether an RDMA device works on it. */
static void test_rdma(void **state)
{
	const struct dart_zero_record wanted = {
		.fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC),
		.ifindex = 1,
	};
	const unsigned int threads = count_threads();
	const int64_t start = dart_clock__ns(CLOCK_MONOTONIC);
	struct own_sample *sample;
	int i, ret;

	for (i = 0; i < OBJECTS; i++)
		assert_int_equal(rdma_sample.open(&wanted, &sample), -ETIMEDOUT);
	assert_in_range(dart_clock__ns(CLOCK_MONOTONIC) - start, 0,
			OBJECTS * INT64_C(100) * NS_PER_MS);
	assert_in_range(count_threads() - threads, 1, 2);

	let_kernel_answer();
	do {
		ret = rdma_sample.open(&wanted, &sample);
	} while (ret == -ETIMEDOUT);
	assert_int_equal(ret, -EOPNOTSUPP);
	while (kernel_end_count)
		close(kernel_ends[--kernel_end_count]);
	close(wanted.fd);
}

static void test_filesystems(void **state)
{
	const struct dart_zero_record wanted = {
		.path = (uintptr_t)"/",
		.device_minor = 1,
	};
	struct own_sample *samples[OBJECTS];
	const int64_t start = dart_clock__ns(CLOCK_MONOTONIC);
	int i;

	assert_int_equal(pipe(gate), 0);
	for (i = 0; i < OBJECTS; i++)
		assert_int_equal(filesystem_sample.open(&wanted, &samples[i]), 0);
	assert_in_range(dart_clock__ns(CLOCK_MONOTONIC) - start, 0,
			OBJECTS * INT64_C(100) * NS_PER_MS);
	close(gate[1]);
	for (i = 0; i < OBJECTS; i++)
		filesystem_sample.close(samples[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a driver of RDMA that hangs takes one thread, and dartd waits for it once",
		     test_rdma),
		TEST("dartd waits for one of many file systems that hang, not for each",
		     test_filesystems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
