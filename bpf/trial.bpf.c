// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls that programs which gather need, and nothing else: the kernel refuses these programs
 * for the same reasons, but after microseconds of verification.  dartd never attaches them.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/*
 * Looks up the address of a variable that each kernel has.  Returns -EPERM if addresses are hidden,
 * and -ENOENT if the kernel's table of symbols contains no variables.
 */
SEC("?syscall")
int find(void *context)
{
	/* On the stack: dartd loads the program without any map. */
	char name[] = "init_task";
	__u64 address = 0;

	return bpf_kallsyms_lookup_name(name, sizeof(name), 0, &address);
}

/* Needs an address to read from, which may be any. */
SEC("?raw_tp")
int read(void *context)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), NULL);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
