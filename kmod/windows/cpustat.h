/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_CPUSTAT_H
#define DART_ZERO_CPUSTAT_H

/*
 * Copies kernel_cpustat of @cpu as /proc/stat shows it: including the time since a CPU without a
 * tick last updated it.  @copy has room for struct kernel_cpustat.
 */
void dart_cpustat_read(unsigned int cpu, void *copy);

#endif /* DART_ZERO_CPUSTAT_H */
