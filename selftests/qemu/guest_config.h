/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a guest is told before it boots: the file /guest of its initramfs,
 * strings that each end in a NUL.  Those of the form KEY=VALUE come first, an
 * empty string ends them, the rest is the command.
 */
#ifndef QEMU_GUEST_CONFIG_H
#define QEMU_GUEST_CONFIG_H

struct guest_config {
	const char *name;	/* host name */
	const char *address;	/* IPv4 address of eth0 */
	const char *hosts;	/* lines for /etc/hosts */
	const char *modules;	/* the host's path of lib/modules/<release> */
	const char *directory;	/* where the command starts */
	const char *path;	/* its PATH */
	const char *share;	/* a directory of the host to write to, or "" */
	char **command;		/* NULL-terminated; NULL: serve other guests */
};

/* Returns 0 or -errno.  What @config points at is never freed. */
int guest_config__load(struct guest_config *config);

#endif
