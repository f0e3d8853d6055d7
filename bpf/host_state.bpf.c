// SPDX-License-Identifier: GPL-2.0-only
/* Samples of the host: its files and inodes, and its clock. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sample.h"

/* UCOUNTS_HASHTABLE_ENTRIES of the kernel. */
#define BUCKETS 1024
/*
 * Any user can make thousands of user namespaces, and is in a list once for each.  A sample reads
 * at most this many users, because preemption is off meanwhile.
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
static __u64 percpu_offsets;
static __u64 ucounts_hashtable;
static __u64 init_user_ns;

static __u64 status;
static __u64 offset;
static __u64 maxerror;
static __u64 esterror;
static __u64 frequency;
static __u64 tick_length;
static __u64 time_constant;
static __u64 tick;
/* Of a pulse per second: 0 where the kernel does not have it. */
static __u64 pps_frequency;
static __u64 pps_jitter;
static __u64 pps_stability;
static __u64 pps_shift;
static __u64 pps_jitter_count;
static __u64 pps_calibrations;
static __u64 pps_errors;
static __u64 pps_stability_exceeded;

static __always_inline int find_files(void)
{
	return FIND(files_stat, "files_stat")			    ?:
		       FIND(nr_files, "nr_files")		    ?:
		       FIND(percpu_offsets, "__per_cpu_offset")	    ?:
		       FIND(ucounts_hashtable, "ucounts_hashtable") ?:
		       FIND(init_user_ns, "init_user_ns");
}

/* Since Linux 6.13 a struct has what were variables. */
struct ntp_data___struct {
	__u64 tick_length;
	int time_status;
	__s64 time_offset;
	long time_maxerror;
	long time_esterror;
	__s64 time_freq;
	long time_constant;
	unsigned long tick_usec;
	long pps_jitter;
	int pps_shift;
	__s64 pps_freq;
	long pps_stabil;
	long pps_calcnt;
	long pps_jitcnt;
	long pps_stbcnt;
	long pps_errcnt;
};

#define NTP_PLACE(member) \
	(ntp + bpf_core_field_offset(struct ntp_data___struct, member))
#define PPS_PLACE(member)                                                \
	(bpf_core_field_exists(struct ntp_data___struct, member) ?       \
		 NTP_PLACE(member) :                                     \
		 0)

static __always_inline void place_pps(__u64 ntp)
{
	pps_frequency = PPS_PLACE(pps_freq);
	pps_jitter = PPS_PLACE(pps_jitter);
	pps_stability = PPS_PLACE(pps_stabil);
	pps_shift = PPS_PLACE(pps_shift);
	pps_jitter_count = PPS_PLACE(pps_jitcnt);
	pps_calibrations = PPS_PLACE(pps_calcnt);
	pps_errors = PPS_PLACE(pps_errcnt);
	pps_stability_exceeded = PPS_PLACE(pps_stbcnt);
}

/* A name that is not found leaves its address 0, where nothing can be read. */
static __always_inline void find_pps(void)
{
	FIND(pps_frequency, "pps_freq");
	FIND(pps_jitter, "pps_jitter");
	FIND(pps_stability, "pps_stabil");
	FIND(pps_shift, "pps_shift");
	FIND(pps_jitter_count, "pps_jitcnt");
	FIND(pps_calibrations, "pps_calcnt");
	FIND(pps_errors, "pps_errcnt");
	FIND(pps_stability_exceeded, "pps_stbcnt");
}

static __always_inline int find_clock_variables(void)
{
	find_pps();
	return FIND(status, "time_status")		    ?:
		       FIND(offset, "time_offset")	    ?:
		       FIND(maxerror, "time_maxerror")	    ?:
		       FIND(esterror, "time_esterror")	    ?:
		       FIND(frequency, "time_freq")	    ?:
		       FIND(tick_length, "tick_length")     ?:
		       FIND(time_constant, "time_constant") ?:
		       FIND(tick, "tick_usec");
}

static __always_inline int find_clock(void)
{
	__u64 ntp;
	int ret;

	if (!bpf_core_type_exists(struct ntp_data___struct))
		return find_clock_variables();
	ret = FIND(ntp, "tk_ntp_data");
	if (ret)
		return ret;
	status = NTP_PLACE(time_status);
	offset = NTP_PLACE(time_offset);
	maxerror = NTP_PLACE(time_maxerror);
	esterror = NTP_PLACE(time_esterror);
	frequency = NTP_PLACE(time_freq);
	tick_length = NTP_PLACE(tick_length);
	time_constant = NTP_PLACE(time_constant);
	tick = NTP_PLACE(tick_usec);
	place_pps(ntp);
	return 0;
}

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return setting->source == SAMPLE_FILES ? find_files() : find_clock();
}

/* Counts that are kept by CPU: of one alone they may be below 0. */
struct file_sum {
	const __s32 *open; /* per CPU, as the next: what the sum lacks */
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
	sum->opened += READ(
		__s32, (const char *)sum->open +
			       READ(__u64, percpu_offsets + 8 * (__u64)cpu));
	sum->inodes += *inodes;
	sum->inodes_unused += *unused;
	sum->dentries += *dentries;
	sum->dentries_unused += *dentries_unused;
	sum->dentries_negative += *negative;
	return 0;
}

/* Not static: clang would divide them into variables with names that BTF refuses. */
__u64 buckets[BUCKETS];
/* Sums over the users of each bucket, as of its last visit. */
__u64 instances_of[BUCKETS];
__u64 watches_of[BUCKETS];
__u64 left_out_of[BUCKETS]; /* 1: it has more users than USERS_OF_BUCKET */
/* The sums of these three arrays. */
static __u64 all_instances;
static __u64 all_watches;
static __u64 all_left_out;
static __u32 next_bucket; /* where the next sample goes on */
static __u32 is_walking; /* one sample at a time changes all these */

/* The bucket whose turn it is, and the user there. */
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
	ucounts = (const void *)(walk->node -
				 bpf_core_field_offset(struct ucounts, node));
	/* The users of other namespaces count in this one, too. */
	if ((__u64)BPF_CORE_READ(ucounts, ns) == init_user_ns) {
		walk->instances += UCOUNT(ucounts, UCOUNT_INOTIFY_INSTANCES);
		walk->watches += UCOUNT(ucounts, UCOUNT_INOTIFY_WATCHES);
	}
	walk->users++;
	walk->node = READ(__u64, walk->node);
	return 0;
}

/* Sets the figure of a bucket, and the sum of all. */
static __always_inline void set_figure(__u64 *figure, __u64 *sum, __u64 value)
{
	*sum += value - *figure;
	*figure = value;
}

static long add_bucket(__u32 number, struct inotify_walk *walk)
{
	const __u32 bucket = (walk->first + number) % BUCKETS;

	/*
	 * Checked before each bucket only, so the last bucket can take a sample beyond the limit.
	 */
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
 * Visits all buckets, unless they have more users than USERS_OF_SAMPLE: then the next sample
 * continues, and until then the remaining buckets keep their previous sums.
 */
static __always_inline void walk_users(void)
{
	struct inotify_walk walk = { .first = next_bucket };

	bpf_probe_read_kernel(buckets, sizeof(buckets),
			      (const void *)ucounts_hashtable);
	bpf_loop(BUCKETS, add_bucket, &walk, 0);
	next_bucket = (walk.first + walk.done) % BUCKETS;
}

static __always_inline __u64 at_least_0(__s64 value)
{
	return value < 0 ? 0 : value;
}

SEC("raw_tp.w/dart_zero_sample")
int sample_files(struct bpf_raw_tracepoint_args *context)
{
	const struct percpu_counter *open = (const void *)nr_files;
	const struct files_stat_struct *stat = (const void *)files_stat;
	struct dart_zero_files values;
	struct file_sum sum = {};

	if (SAMPLE_OF(context)->source != SAMPLE_FILES)
		return 0;
	sum.open = BPF_CORE_READ(open, counters);
	sum.opened = BPF_CORE_READ(open, count);
	bpf_loop(CPUS_MAX, add_cpu, &sum, 0);
	if (!__sync_val_compare_and_swap(&is_walking, 0, 1)) {
		walk_users();
		__sync_lock_test_and_set(&is_walking, 0);
	}
	values = (struct dart_zero_files){
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
	SAMPLE_ANSWER(context, values);
	return 0;
}

/* As shift_right() of kernel/time/ntp.c, by NTP_SCALE_SHIFT. */
static __always_inline __s64 unscale(__s64 value)
{
	return value < 0 ? -(-value >> 32) : value >> 32;
}

#define NANOSECONDS 1000000000ULL
#define SCALED_SECOND (NANOSECONDS << 32)
#define PPM_SCALE_INV_SHIFT 19
#define PPM_SCALE_INV 34359739LL

/* In 1/65536 ppm. */
static __always_inline __s64 frequency_at(__u64 address)
{
	return unscale((READ(__s64, address) >> PPM_SCALE_INV_SHIFT) *
		       PPM_SCALE_INV);
}

/* As __do_adjtimex().  The length of a tick tells HZ, which no variable does. */
SEC("raw_tp.w/dart_zero_sample")
int sample_clock(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_clock values;
	__u64 length;
	__s64 tai;

	if (SAMPLE_OF(context)->source != SAMPLE_CLOCK)
		return 0;
	/* The module's. */
	tai = ((const struct dart_zero_clock *)SAMPLE_OF(context)->values)->tai;
	length = READ(__u64, tick_length);
	if (!length)
		return 0;
	values = (struct dart_zero_clock){
		.status = READ(__u32, status),
		.offset = unscale(READ(__s64, offset) *
				  ((SCALED_SECOND + length / 2) / length)),
		.maxerror = READ(__s64, maxerror) * 1000,
		.esterror = READ(__s64, esterror) * 1000,
		.frequency = frequency_at(frequency),
		.tai = tai,
		.pps_frequency = frequency_at(pps_frequency),
		.pps_jitter = READ(long, pps_jitter),
		.pps_stability = READ(long, pps_stability),
		.pps_shift = READ(__u32, pps_shift),
		.pps_jitter_count = READ(long, pps_jitter_count),
		.pps_calibrations = READ(long, pps_calibrations),
		.pps_errors = READ(long, pps_errors),
		.pps_stability_exceeded = READ(long, pps_stability_exceeded),
		.time_constant = READ(long, time_constant),
		.tick = READ(unsigned long, tick),
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
