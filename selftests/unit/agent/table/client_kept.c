// SPDX-License-Identifier: GPL-2.0-only
/* Notes about memory of clients outlive a dartd that ends between the steps of their replacement. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/table/client_memory.h"
#include "agent/table/client_memory_kept.h"
#include "selftests/unit/unit.h"

#define INODE UINT64_C(0x4711)
#define BASE (UINT64_C(1) << 61)
#define MEMORY "memory-4711,2000000000000000,1000"
#define FIRST_FD 3
#define NAMES_MAX 8
#define NAME_MAX_BYTES 128

/* The service manager: the descriptors that it keeps, by the messages of sd_notify(3). */
static char names[NAMES_MAX][NAME_MAX_BYTES];
static char contents[NAMES_MAX][64];
static unsigned int count;
static int manager; /* its socket */

static const char *const prefixes[] = { CLIENT_KEPT_MEMORY, CLIENT_KEPT_NOTES, NULL };
static struct fd_store kept;
static struct client_memories memories;
static struct client_memory memory;

static void keep(const char *name, int fd)
{
	assert_true(count < NAMES_MAX);
	snprintf(names[count], NAME_MAX_BYTES, "%s", name);
	memset(contents[count], 0, sizeof(contents[count]));
	if (pread(fd, contents[count], sizeof(contents[count]) - 1, 0) < 0)
		fail();
	count++;
}

static void forget(const char *name)
{
	unsigned int i, left = 0;

	for (i = 0; i < count; i++) {
		if (!strcmp(names[i], name))
			continue;
		memmove(names[left], names[i], NAME_MAX_BYTES);
		memmove(contents[left++], contents[i], sizeof(contents[i]));
	}
	count = left;
}

/* Takes all messages that dartd has sent. */
static void take_messages(void)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char text[512], name[NAME_MAX_BYTES];
	struct iovec bytes = { text, sizeof(text) - 1 };
	struct msghdr message;
	ssize_t length;
	int fd;

	for (;;) {
		message = (struct msghdr){ .msg_iov = &bytes,
					   .msg_iovlen = 1,
					   .msg_control = &control,
					   .msg_controllen = sizeof(control) };
		length = recvmsg(manager, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (length < 0)
			break;
		text[length] = '\0';
		assert_non_null(strstr(text, "FDNAME="));
		assert_int_equal(sscanf(strstr(text, "FDNAME="), "FDNAME=%127s", name), 1);
		if (strstr(text, "FDSTOREREMOVE=1")) {
			forget(name);
			continue;
		}
		assert_non_null(CMSG_FIRSTHDR(&message));
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
		keep(name, fd);
		close(fd);
	}
	assert_int_equal(errno, EAGAIN);
}

static int open_manager(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	char name[sizeof(address.sun_path) + 1];

	/* The kernel chooses an abstract name; not at the places of kept descriptors. */
	manager = fcntl(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), F_DUPFD_CLOEXEC, 64);
	if (bind(manager, (struct sockaddr *)&address, sizeof(address.sun_family)) ||
	    getsockname(manager, (struct sockaddr *)&address, &length))
		return -1;
	snprintf(name, sizeof(name), "@%.*s",
		 (int)(length - offsetof(struct sockaddr_un, sun_path) - 1), address.sun_path + 1);
	return setenv("NOTIFY_SOCKET", name, 1);
}

/* dartd starts with these descriptors, whose contents are their names. */
static void start(const char *const *list, unsigned int listed)
{
	char text[512] = "", number[16];
	unsigned int i;
	int fd;

	count = 0;
	for (i = 0; i < listed; i++) {
		fd = memfd_create(list[i], 0);
		assert_int_equal(write(fd, list[i], strlen(list[i])), strlen(list[i]));
		keep(list[i], fd);
		assert_int_equal(dup2(fd, FIRST_FD + i), FIRST_FD + i);
		if (fd != FIRST_FD + (int)i)
			close(fd);
		sprintf(text + strlen(text), "%s%s", i ? ":" : "", list[i]);
	}
	snprintf(number, sizeof(number), "%d", getpid());
	setenv("LISTEN_PID", number, 1);
	snprintf(number, sizeof(number), "%u", listed);
	setenv("LISTEN_FDS", number, 1);
	setenv("LISTEN_FDNAMES", text, 1);
	fd_store__open(&kept, prefixes);
	memories = (struct client_memories){ .kept = &kept, .base = BASE };
	TAILQ_INIT(&memories.list);
	memory = (struct client_memory){
		.memories = &memories, .inode = INODE, .data = 0x1000, .fd = -1, .notes = -1
	};
}

/* The last dartd ended before it had forgotten the notes that it replaced. */
static void test_two(void **state)
{
	static const char *const list[] = { MEMORY, "notes-4711,7", "notes-4711,8",
					    "notes-4712,9" };
	size_t length;
	char *former;

	start(list, 4);
	client_kept__resume(&memory, MEMORY);
	former = client_kept__former_notes(&memory, &length);
	assert_non_null(former);
	assert_int_equal(length, strlen(list[2]));
	assert_memory_equal(former, list[2], length);
	free(former);
	assert_int_equal(client_kept__note(&memory, "now\n", 4).length, 4);
	client_kept__replace_notes(&memory);
	take_messages();
	assert_int_equal(count, 3);
	assert_string_equal(names[0], MEMORY);
	assert_string_equal(names[1], "notes-4712,9");
	assert_string_equal(contents[2], "now\n");
	close(memory.notes);
	fd_store__close(&kept);
}

static void test_one(void **state)
{
	static const char *const list[] = { MEMORY, "notes-4711,7" };
	size_t length;
	char *former;

	start(list, 2);
	client_kept__resume(&memory, MEMORY);
	former = client_kept__former_notes(&memory, &length);
	assert_memory_equal(former, list[1], strlen(list[1]));
	free(former);
	client_kept__replace_notes(&memory);
	take_messages();
	assert_int_equal(count, 2);
	assert_string_equal(names[1], "notes-4711,8");
	/* The memory ends, and nothing is left of it. */
	client_kept__forget(&memory);
	take_messages();
	assert_int_equal(count, 0);
	close(memory.notes);
	fd_store__close(&kept);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("notes replace the notes of the last dartd", test_one),
		TEST("the latest of two notes count, and the next dartd gets new ones", test_two),
	};

	return cmocka_run_group_tests_name("client_kept", tests, open_manager, NULL);
}
