// SPDX-License-Identifier: GPL-2.0-only
/* Samples the files, inodes and dentries of the host, and inotify of its users. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "cpus.h"
#include "sample.h"

/* UCOUNTS_HASHTABLE_ENTRIES of the kernel. */
#define BUCKETS 1024
/*
 * Any user can make thousands of user namespaces, and the lists contain the user once for each.  A
 * sample reads at most this many users, because preemption is off meanwhile.
 */
#define USERS_OF_SAMPLE 256
#define USERS_OF_BUCKET 128

extern const unsigned long nr_inodes __ksym;
extern const unsigned long nr_unused __ksym;
extern const long nr_dentry __ksym;
extern const long nr_dentry_unused __ksym;
extern const long nr_dentry_negative __ksym;

/* Addresses. */
static __u64 files_stat;
static __u64 nr_files;
static __u64 ucounts_hashtable;
static __u64 init_user_ns;

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return FIND(files_stat, "files_stat")			    ?:
		       FIND(nr_files, "nr_files")		    ?:
		       FIND(ucounts_hashtable, "ucounts_hashtable") ?:
		       FIND(init_user_ns, "init_user_ns")	    ?:
		       find_cpus();
}

/* Sums over counts by CPU; the count of one CPU alone may be negative. */
struct file_sum {
	const __s32 *open; /* by CPU: counts that @opened does not include yet */
	__s64 opened;
	__s64 inodes;
	__s64 inodes_unused;
	__s64 dentries;
	__s64 dentries_unused;
	__s64 dentries_negative;
};

static long add_cpu(__u32 cpu, struct file_sum *sum)
{
	const unsigned long *inodes = bpf_per_cpu_ptr(&nr_inodes, cpu);
	const unsigned long *unused = bpf_per_cpu_ptr(&nr_unused, cpu);
	const long *dentries = bpf_per_cpu_ptr(&nr_dentry, cpu);
	const long *dentries_unused = bpf_per_cpu_ptr(&nr_dentry_unused, cpu);
	const long *negative = bpf_per_cpu_ptr(&nr_dentry_negative, cpu);

	if (!inodes || !unused || !dentries || !dentries_unused || !negative)
		return 1;
	if (!is_possible(cpu))
		return 0;
	sum->opened += READ(__s32, at_cpu(sum->open, cpu));
	sum->inodes += *inodes;
	sum->inodes_unused += *unused;
	sum->dentries += *dentries;
	sum->dentries_unused += *dentries_unused;
	sum->dentries_negative += *negative;
	return 0;
}

/* Not static, because clang would divide them into variables with names that BTF refuses. */
__u64 buckets[BUCKETS];
/* Sums over the users of each bucket, as of its last visit. */
__u64 instances_of[BUCKETS];
__u64 watches_of[BUCKETS];
__u64 left_out_of[BUCKETS]; /* 1: it contains more users than USERS_OF_BUCKET */
/* The sums of these three arrays. */
static __u64 all_instances;
static __u64 all_watches;
static __u64 all_left_out;
static __u32 next_bucket; /* where the next sample continues */
static __u32 is_walking; /* only one sample at a time changes these variables */

/* A walk over users: the current bucket, and the next user there. */
struct inotify_walk {
	__u64 node; /* address */
	__u64 instances;
	__u64 watches;
	__u32 users; /* read by this sample */
	__u32 first; /* bucket */
	__u32 done; /* buckets */
};

#define UCOUNT(ucounts, type)                                               \
	READ(__u64, (const char *)(ucounts) +                               \
			    bpf_core_field_offset(struct ucounts, ucount) + \
			    sizeof(__u64) * bpf_core_enum_value(            \
						    enum ucount_type, type))

/* Newer kernels end the list of a bucket with an odd number. */
static __always_inline bool is_end(__u64 node)
{
	return !node || node & 1;
}

static long add_user(__u32 number, struct inotify_walk *walk)
{
	const struct ucounts *ucounts;

	if (is_end(walk->node))
		return 1;
	ucounts = (const void *)(walk->node - bpf_core_field_offset(struct ucounts, node));
	/* The counts in this namespace include users of other namespaces. */
	if ((__u64)BPF_CORE_READ(ucounts, ns) == init_user_ns) {
		walk->instances += UCOUNT(ucounts, UCOUNT_INOTIFY_INSTANCES);
		walk->watches += UCOUNT(ucounts, UCOUNT_INOTIFY_WATCHES);
	}
	walk->users++;
	walk->node = READ(__u64, walk->node);
	return 0;
}

/* Sets the figure of a bucket, and adjusts the sum over all buckets. */
static __always_inline void set_figure(__u64 *figure, __u64 *sum, __u64 value)
{
	*sum += value - *figure;
	*figure = value;
}

static long add_bucket(__u32 number, struct inotify_walk *walk)
{
	const __u32 bucket = (walk->first + number) % BUCKETS;

	/* The limit is checked before each bucket only, so the last bucket can exceed it. */
	if (walk->users >= USERS_OF_SAMPLE)
		return 1;
	walk->node = buckets[bucket];
	walk->instances = 0;
	walk->watches = 0;
	if (!is_end(walk->node))
		bpf_loop(USERS_OF_BUCKET, add_user, walk, 0);
	set_figure(&instances_of[bucket], &all_instances, walk->instances);
	set_figure(&watches_of[bucket], &all_watches, walk->watches);
	set_figure(&left_out_of[bucket], &all_left_out, !is_end(walk->node));
	walk->done++;
	return 0;
}

/*
 * Visits all buckets, unless they contain more users than USERS_OF_SAMPLE: then the next sample
 * continues, and until then the remaining buckets keep their previous sums.
 */
static __always_inline void walk_users(void)
{
	struct inotify_walk walk = { .first = next_bucket };

	bpf_probe_read_kernel(buckets, sizeof(buckets), (const void *)ucounts_hashtable);
	bpf_loop(BUCKETS, add_bucket, &walk, 0);
	next_bucket = (walk.first + walk.done) % BUCKETS;
}

static __always_inline enum dart_zero_sample_answer take_files(struct dart_zero_files *values)
{
	const struct percpu_counter *open = (const void *)nr_files;
	const struct files_stat_struct *stat = (const void *)files_stat;
	struct file_sum sum = {};

	sum.open = BPF_CORE_READ(open, counters);
	sum.opened = BPF_CORE_READ(open, count);
	bpf_loop(CPUS_MAX, add_cpu, &sum, 0);
	if (!__sync_val_compare_and_swap(&is_walking, 0, 1)) {
		walk_users();
		__sync_lock_test_and_set(&is_walking, 0);
	}
	*values = (struct dart_zero_files){
		.open = at_least_0(sum.opened),
		.open_max = BPF_CORE_READ(stat, max_files),
		.inodes = at_least_0(sum.inodes),
		.inodes_unused = at_least_0(sum.inodes_unused),
		.dentries = at_least_0(sum.dentries),
		.dentries_unused = at_least_0(sum.dentries_unused),
		.dentries_negative = at_least_0(sum.dentries_negative),
		.inotify_instances = all_instances,
		.inotify_watches = all_watches,
		.inotify_left_out = all_left_out,
	};
	return DART_ZERO_ANSWER_VALUES;
}

HOST_SAMPLE(DART_ZERO_SOURCE_FILES, files)

char LICENSE[] SEC("license") = "GPL";
