/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pressure of a group of tasks: the time (ns) during which they waited.  The kernel adds it up
 * every 2 s while tasks run, and whenever a process reads the files.
 */
#ifndef PRESSURE_H
#define PRESSURE_H

#include "read.h"

/* Exists with CONFIG_PSI, which the kernel that vmlinux.h was made from may lack. */
struct psi_group___psi {
	bool enabled;
	__u64 total[1]; /* two dimensions, which BTF does not show */
};

/* BTF of newer kernels shows both dimensions. */
struct psi_group___two_dimensions {
	__u64 total[1][1];
};

enum psi_states___psi {
	PSI_IO_SOME___psi,
	PSI_IO_FULL___psi,
	PSI_MEM_SOME___psi,
	PSI_MEM_FULL___psi,
	PSI_CPU_SOME___psi,
	PSI_CPU_FULL___psi,
	/* With CONFIG_IRQ_TIME_ACCOUNTING only. */
	PSI_IRQ_FULL___psi,
};

static __always_inline __u64 pressure__total(const struct psi_group *group, __u32 state)
{
	const void *total = group;

	if (bpf_core_field_exists(struct psi_group___two_dimensions, total))
		total += bpf_core_field_offset(struct psi_group___two_dimensions, total);
	else
		total += bpf_core_field_offset(struct psi_group___psi, total);

	/* total[] consists of two arrays; PSI_AVGS is the first. */
	return READ(__u64, total + state * sizeof(__u64));
}

#define PRESSURE_TOTAL(group, state)                                      \
	pressure__total(group, bpf_core_enum_value(enum psi_states___psi, \
						   state##___psi))

static __always_inline __u64 pressure__irq(const struct psi_group *group)
{
	/*
	 * A function and not an expression, because clang would evaluate a value that the kernel
	 * may lack.
	 */
	if (!bpf_core_enum_value_exists(enum psi_states___psi, PSI_IRQ_FULL___psi))
		return 0;
	return PRESSURE_TOTAL(group, PSI_IRQ_FULL);
}

/* The members that the structs of the host and of cgroups share. */
#define PRESSURE_VALUES(group)                              \
	.cpu_some = PRESSURE_TOTAL(group, PSI_CPU_SOME),    \
	.memory_some = PRESSURE_TOTAL(group, PSI_MEM_SOME), \
	.memory_full = PRESSURE_TOTAL(group, PSI_MEM_FULL), \
	.io_some = PRESSURE_TOTAL(group, PSI_IO_SOME),      \
	.io_full = PRESSURE_TOTAL(group, PSI_IO_FULL),      \
	.irq_full = pressure__irq(group)

#endif /* PRESSURE_H */
