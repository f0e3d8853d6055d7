/* SPDX-License-Identifier: GPL-2.0-only */
/* What a peer runs: commands that other guests ask for (exec_protocol.h). */
#ifndef QEMU_EXEC_SERVER_H
#define QEMU_EXEC_SERVER_H

/* Returns a socket that others can connect to from now on, or -errno. */
int exec_server__listen(void);

/* Serve every connection in a process of its own; never returns. */
_Noreturn void exec_server__run(int listener);

#endif
