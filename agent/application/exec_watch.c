// SPDX-License-Identifier: GPL-2.0-only
/* Listens to the process connector: see exec_watch.h. */
#include "exec_watch.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGES_MAX 64 /* in a turn of the loop */
/* About 2,000 messages: programs that start while the loop does something else. */
#define BUFFER_BYTES (1 << 20)

struct message {
	struct nlmsghdr header;
	struct cn_msg connector;
	union {
		enum proc_cn_mcast_op operation;
		struct proc_event event;
	};
} __attribute__((packed));

#define EVENT_WHAT (offsetof(struct message, event) + offsetof(struct proc_event, what))

/*
 * The kernel reports forks, exits and more; only programs that are executed, and answers to
 * requests of programs like dartd, shall wake dartd.  A load of a filter is big-endian.
 */
static int pass_only_exec(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, EVENT_WHAT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __builtin_bswap32(PROC_EVENT_EXEC), 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __builtin_bswap32(PROC_EVENT_NONE), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog filter = { .len = sizeof(code) / sizeof(*code), .filter = code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ? -errno : 0;
}

static int ask(int fd, enum proc_cn_mcast_op operation)
{
	struct message message = {
		.header = {
			.nlmsg_len = offsetof(struct message, operation) + sizeof(operation),
			.nlmsg_type = NLMSG_DONE,
			.nlmsg_pid = 0,
		},
		.connector = {
			.id = { .idx = CN_IDX_PROC, .val = CN_VAL_PROC },
			.len = sizeof(operation),
		},
		.operation = operation,
	};

	return send(fd, &message, message.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

/*
 * The kernel answers while the request is sent; it ignores requests of a process in a PID or user
 * namespace of its own.
 */
static int await_answer(int fd)
{
	struct message message;
	ssize_t length;

	do
		length = recv(fd, &message, sizeof(message), MSG_DONTWAIT);
	while (length < 0 ? errno == ENOBUFS :
			    (size_t)length < EVENT_WHAT + sizeof(message.event.what) ||
				    message.event.what != PROC_EVENT_NONE);
	return length < 0 ? -EPERM : 0;
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct exec_watch *watch = userdata;
	struct message message;
	ssize_t length;
	int i;

	for (i = 0; i < MESSAGES_MAX && watch->fd >= 0; i++) {
		length = recv(fd, &message, sizeof(message), MSG_DONTWAIT);
		if (length < 0 && errno == ENOBUFS)
			watch->on_lost(watch->userdata);
		else if (length < 0)
			break;
		else if ((size_t)length >= EVENT_WHAT + sizeof(message.event.what) &&
			 message.event.what == PROC_EVENT_EXEC)
			watch->on_exec(watch->userdata, message.event.event_data.exec.process_tgid);
	}
	return 0;
}

void exec_watch__init(struct exec_watch *watch, void (*on_exec)(void *userdata, pid_t pid),
		      void (*on_lost)(void *userdata), void *userdata)
{
	*watch = (struct exec_watch){
		.fd = -1,
		.on_exec = on_exec,
		.on_lost = on_lost,
		.userdata = userdata,
	};
}

static int open_socket(void)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	const int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	const int bytes = BUFFER_BYTES;
	int ret;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	ret = pass_only_exec(fd);
	if (!ret && bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		ret = -errno;
	ret = ret ?: ask(fd, PROC_CN_MCAST_LISTEN) ?: await_answer(fd);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int exec_watch__open(struct exec_watch *watch, sd_event *loop, struct dart_error *error)
{
	int ret;

	watch->fd = open_socket();
	if (watch->fd < 0)
		return dart_error__system(
			error, -watch->fd,
			"the kernel does not report programs that start (it needs CONFIG_PROC_EVENTS, and dartd CAP_NET_ADMIN in the host's namespaces)");
	ret = sd_event_add_io(loop, &watch->events, watch->fd, EPOLLIN, on_event, watch);
	if (ret >= 0)
		return 0;
	close(watch->fd);
	watch->fd = -1;
	return dart_error__system(error, -ret, "cannot wait for programs that start");
}

void exec_watch__close(struct exec_watch *watch)
{
	if (watch->fd < 0)
		return;
	watch->events = sd_event_source_disable_unref(watch->events);
	ask(watch->fd, PROC_CN_MCAST_IGNORE);
	close(watch->fd);
	watch->fd = -1;
}
