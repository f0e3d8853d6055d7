// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes with a file descriptor over a UNIX socket: see descriptor.h. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "descriptor.h"

/* Room for the header and one descriptor, aligned as the kernel wants it. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

ssize_t dart_descriptor__send(int socket, const void *bytes, size_t length, int flags, int fd)
{
	union control control = {
		.header = {
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int)),
		},
	};
	struct iovec vector = { (void *)bytes, length };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	ssize_t sent;

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	do {
		sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
}

ssize_t dart_descriptor__receive(int socket, void *bytes, size_t length,
				 int flags, int *fd, bool *is_truncated)
{
	union control control;
	struct iovec vector = { bytes, length };
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = &control,
		/* Not its padding: a second descriptor would fit in there. */
		.msg_controllen = CMSG_LEN(sizeof(int)),
	};
	const struct cmsghdr *header;
	ssize_t received;

	*fd = -1;
	do {
		received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	} while (received < 0 && errno == EINTR);
	if (received < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	if (is_truncated)
		*is_truncated = message.msg_flags & MSG_CTRUNC;
	return received;
}
