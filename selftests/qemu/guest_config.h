/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration of a guest: the file /guest in its initramfs contains strings that
 * end with NUL.  First come strings KEY=VALUE, then an empty string, then the command.
 */
#ifndef QEMU_GUEST_CONFIG_H
#define QEMU_GUEST_CONFIG_H

struct guest_config {
	const char *name;	/* host name */
	const char *address;	/* IPv4 address of eth0 */
	const char *outside;	/* of eth1, where the host reaches the guest, or "" */
	const char *hosts;	/* lines for /etc/hosts */
	const char *modules;	/* path of lib/modules/<release> on the host */
	const char *directory;	/* where the command starts */
	const char *path;	/* its PATH */
	const char *share;	/* writable directory of the host, or "" */
	const char *manager;	/* service manager that becomes PID 1, or "" */
	const char *root;	/* directory of the host that is the whole guest, or "" */
	const char *project;	/* path of the project, if the guest has another root than the host */
	const char *built;	/* then the folder in it that appears as .output, or "" */
	const char *copied;	/* files that the guest copies into its memory, a line for each */
	char **command;		/* NULL-terminated; NULL: serve other guests */
};

/* Returns 0 or -errno.  The strings of @config are never freed. */
int guest_config__load(struct guest_config *config);

#endif
