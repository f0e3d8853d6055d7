/* SPDX-License-Identifier: GPL-2.0-only */
/* The server in a peer: runs commands for other guests (exec_protocol.h). */
#ifndef QEMU_EXEC_SERVER_H
#define QEMU_EXEC_SERVER_H

/* Returns a listening socket, or -errno. */
int exec_server__listen(void);

/* Serve every connection in a separate process; never returns. */
_Noreturn void exec_server__run(int listener);

#endif
