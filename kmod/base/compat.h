/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernels.  Kbuild looks into the headers and defines DART_HAS_*, because
 * vendors add changes of newer kernels to theirs.
 */
#ifndef DART_ZERO_COMPAT_H
#define DART_ZERO_COMPAT_H

#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/version.h>

#ifdef DART_HAS_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif

#ifndef CONFIG_64BIT
#error "dart_zero needs a 64-bit kernel: elsewhere counters are not one word"
#endif

/*
 * Before 6.2 ib_umem_get() pins with FOLL_WRITE even for a registration that only reads, so it
 * refuses a mapping that is never writable.  No header shows this, so the version decides.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#error "dart_zero needs Linux 6.2 or newer: older ones cannot register a read-only mapping"
#endif

/* Since 6.3 only functions may write the flags of a mapping. */
#ifndef DART_HAS_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags & ~clear) | set;
}
#endif

/*
 * The page at @address, although NUMA balancing took its mapping away: since 6.5 that is the rule,
 * before that only FOLL_FORCE does it.  Before 6.5 the function has one more argument.
 */
static inline long dart_get_page(struct mm_struct *mm, unsigned long address, unsigned int flags,
				 struct page **page)
{
#ifndef DART_HAS_HONOR_NUMA_FAULT
	flags |= FOLL_FORCE;
#endif
#ifdef DART_HAS_PAGES_WITHOUT_VMAS
	return get_user_pages_remote(mm, address, 1, flags, page, NULL);
#else
	return get_user_pages_remote(mm, address, 1, flags, page, NULL, NULL);
#endif
}

/*
 * May the caller, and the process that opened @opener, trace @task, whose memory is @mm?  Since 7.2
 * the task, and no longer its memory, knows the user namespace that it was executed in.  The caller
 * holds exec_update_lock.
 */
static inline bool dart_may_trace(struct task_struct *task, struct mm_struct *mm,
				  const struct file *opener)
{
#ifdef DART_HAS_EXEC_STATE
	struct task_exec_state *state;
	bool may;

	rcu_read_lock();
	state = rcu_dereference(task->exec_state);
	may = state && ns_capable(state->user_ns, CAP_SYS_PTRACE) &&
	      file_ns_capable(opener, state->user_ns, CAP_SYS_PTRACE);
	rcu_read_unlock();
	return may;
#else
	return ns_capable(mm->user_ns, CAP_SYS_PTRACE) &&
	       file_ns_capable(opener, mm->user_ns, CAP_SYS_PTRACE);
#endif
}

/*
 * Since 6.16 the CPU time of a cgroup is in another struct under another name;
 * the member is called bstat in both.
 */
#ifdef DART_HAS_RSTAT_BASE_CPU
#define dart_cgroup_rstat(cgroup) ((cgroup)->rstat_base_cpu)
#else
#define dart_cgroup_rstat(cgroup) ((cgroup)->rstat_cpu)
#endif

/* Since 6.9 the tracepoint mark_victim has the task and its user. */
#ifdef DART_HAS_VICTIM_TASK
#define DART_MARK_VICTIM_PROTO struct task_struct *task, uid_t uid
#else
#define DART_MARK_VICTIM_PROTO int pid
#endif

/*
 * Since 6.7 each device tells the type of its per-CPU statistics.  Before, dstats belonged to one
 * driver.
 */
#ifndef DART_HAS_PCPU_STAT_TYPE
struct pcpu_dstats {
	u64 not_known;
};

enum {
	NETDEV_PCPU_STAT_NONE,
	NETDEV_PCPU_STAT_LSTATS,
	NETDEV_PCPU_STAT_TSTATS,
	NETDEV_PCPU_STAT_DSTATS,
};

#define dart_pcpu_stat_type(device) ((void)(device), NETDEV_PCPU_STAT_NONE)
#else
#define dart_pcpu_stat_type(device) ((device)->pcpu_stat_type)
#endif

/*
 * Since 6.17 the queues of the system are named after where their work runs, and newer kernels log
 * a warning when work comes to a queue of the former names.
 */
#ifndef DART_HAS_PERCPU_WQ
#define system_percpu_wq system_wq
#define system_dfl_wq system_unbound_wq
#endif

/*
 * The page that mappings show between extents.  Since 6.5 the kernel does not count pins of the
 * zero page.  Before, 2^21 pins overflow its counter, for all users of the machine, so each region
 * has a page for this.
 */
#ifndef DART_HAS_UNCOUNTED_ZERO_PAGE
static inline struct page *dart_hole_new(void)
{
	return alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

static inline void dart_hole_free(struct page *hole)
{
	__free_page(hole);
}
#else
static inline struct page *dart_hole_new(void)
{
	return ZERO_PAGE(0);
}

static inline void dart_hole_free(struct page *hole)
{
}
#endif

/* The kernel introduced the macros for functions that eBPF programs call one after another. */
#ifndef __bpf_kfunc
#define __bpf_kfunc noinline
#endif
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START(name) BTF_SET8_START(name)
#define BTF_KFUNCS_END(name) BTF_SET8_END(name)
#endif

/* Since 6.13 the argument of MODULE_IMPORT_NS() is a string. */
#ifdef DART_HAS_BARE_IMPORT_NS
#define DART_IMPORT_NS(namespace) MODULE_IMPORT_NS(namespace)
#else
#define DART_IMPORT_NS(namespace) MODULE_IMPORT_NS(#namespace)
#endif

#endif /* DART_ZERO_COMPAT_H */
