/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The protocol by which a guest runs a command in another guest: one TCP connection for
 * each command.
 *
 * The client sends a struct exec_request and that many bytes of strings, each
 * with its NUL: working directory, PATH, argv[0], argv[1], ...
 *
 * The server answers with frames: a struct exec_frame and that many bytes.  The last
 * frame is EXEC_STATUS.  If the client disconnects before that, the server kills the
 * command and its process group.
 *
 * Both ends are guests on the same machine, so bytes are not swapped.
 */
#ifndef QEMU_EXEC_PROTOCOL_H
#define QEMU_EXEC_PROTOCOL_H

#include <stdint.h>

#define EXEC_PORT		7
#define EXEC_REQUEST_MAX	(1 << 20)
#define EXEC_FRAME_MAX		(1 << 16)

struct exec_request {
	uint32_t length;
};

enum exec_frame_kind {
	EXEC_OUTPUT = 1,	/* bytes of standard output */
	EXEC_ERRORS = 2,	/* bytes of standard error */
	EXEC_STATUS = 3,	/* uint32_t, as in $? of a shell */
};

struct exec_frame {
	uint32_t kind;
	uint32_t length;
};

#endif
