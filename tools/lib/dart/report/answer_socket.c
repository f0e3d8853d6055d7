// SPDX-License-Identifier: LGPL-2.1-or-later
/* Receives acknowledgements from a packet socket with a filter. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include <dart/ledger.h>
#include <dart/store.h>
#include <libdart/clock.h>

#include "answer_socket.h"

#define NS_PER_S UINT64_C(1000000000)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct dart_answer_socket {
	int fd;
	/*
	 * Keeps the kernel from answering each acknowledgement with "port unreachable"; -1 if
	 * another socket does, as that of soft-RoCE.
	 */
	int parked;
};

/* UDP over IPv4, no later fragment, to the port of RoCE, and an acknowledgement in the BTH. */
static struct sock_filter acknowledgements[] = {
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 11),
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 23),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 9),
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 20),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 7, 0),
	BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 14),
	BPF_STMT(BPF_LD | BPF_H | BPF_IND, 16),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DART_STORE_UDP_PORT, 0, 4),
	BPF_STMT(BPF_LD | BPF_B | BPF_IND, 22),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DART_LEDGER_BTH_ANSWER, 1, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DART_LEDGER_BTH_ACKNOWLEDGE, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, DART_ANSWER_SOCKET_FRAME_MAX),
	BPF_STMT(BPF_RET | BPF_K, 0),
};

static int socket__bind(struct dart_answer_socket *socket, const char *interface,
			struct dart_error *error)
{
	const struct sock_fprog filter = { LENGTH(acknowledgements), acknowledgements };
	const struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = if_nametoindex(interface),
	};

	/* Without a protocol until now, so that nothing passed the filter by. */
	if (!address.sll_ifindex ||
	    setsockopt(socket->fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ||
	    bind(socket->fd, (const struct sockaddr *)&address, sizeof(address)))
		return dart_error__system(error, errno, "cannot receive from '%s'", interface);
	return 0;
}

static int park(void)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(DART_STORE_UDP_PORT),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int dart_answer_socket__open(const char *interface, struct dart_answer_socket **result,
			     struct dart_error *error)
{
	struct dart_answer_socket *answers = calloc(1, sizeof(*answers));
	int ret;

	if (!answers)
		return dart_error__no_memory(error);
	answers->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (answers->fd < 0) {
		ret = dart_error__set(error, errno, "cannot receive frames: %s%s", strerror(errno),
				      errno == EPERM ? " (this needs CAP_NET_RAW)" : "");
		goto free_answers;
	}
	ret = socket__bind(answers, interface, error);
	if (ret)
		goto close_fd;
	answers->parked = park();
	*result = answers;
	return 0;

close_fd:
	close(answers->fd);
free_answers:
	free(answers);
	return ret;
}

void dart_answer_socket__close(struct dart_answer_socket *socket)
{
	if (!socket)
		return;
	if (socket->parked >= 0)
		close(socket->parked);
	close(socket->fd);
	free(socket);
}

int dart_answer_socket__receive(struct dart_answer_socket *socket, uint64_t due,
				uint8_t frame[DART_ANSWER_SOCKET_FRAME_MAX])
{
	struct pollfd poll = { .fd = socket->fd, .events = POLLIN };
	const uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	const uint64_t rest = due > now ? due - now : 0;
	const struct timespec timeout = {
		.tv_sec = rest / NS_PER_S,
		.tv_nsec = rest % NS_PER_S,
	};
	ssize_t length;

	if (rest && ppoll(&poll, 1, &timeout, NULL) < 0 && errno != EINTR)
		return -errno;
	length = recv(socket->fd, frame, DART_ANSWER_SOCKET_FRAME_MAX, 0);
	if (length >= 0)
		return length;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}
