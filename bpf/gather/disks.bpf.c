// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers questions about block devices.
 *
 * A question carries a descriptor of the device's directory in sysfs.  The descriptor keeps the
 * directory, but not the device: the kernel removes the directory before it puts the device, and
 * frees the counters after an RCU grace period.  The driver may free its queues without one, so an
 * answer only counts if the directory still exists after the last read.
 */
#include "vmlinux.h"

#include "answer.h"

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define MSEC_PER_SEC 1000
/* Attempts to add up the counters of a busy device. */
#define ROUNDS 4
/* From blk-mq.h: BTF lacks their names. */
#define SHARED_TAGS (1 << 3) /* BLK_MQ_F_TAG_HCTX_SHARED, before 6.14 */
#define STATE_IN_FLIGHT 1 /* MQ_RQ_IN_FLIGHT */
#define QUEUES_MAX 1024
#define WORD_BITS 64
#define WORDS_MAX 4096

extern int LINUX_KERNEL_VERSION __kconfig;

static __u64 clocksource_jiffies; /* address */

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return answer__find_cpus() ?: FIND(clocksource_jiffies, "clocksource_jiffies");
}

/*
 * True while a directory of sysfs exists: the kernel makes the count negative before it puts the
 * device.
 */
static __always_inline bool is_there(const struct kernfs_node *node)
{
	return (__s32)BPF_CORE_READ(node, active.counter) >= 0;
}

/* The block device of an existing directory, or NULL. */
static __always_inline const struct block_device *device_of(const struct kernfs_node *node)
{
	const void *object = BPF_CORE_READ(node, priv);
	const struct device *device = object - bpf_core_field_offset(struct device, kobj);
	const char *name;
	char class[8] = {};

	if (!object)
		return NULL;
	name = BPF_CORE_READ(device, class, name);
	if (bpf_probe_read_kernel_str(class, sizeof(class), name) < 0)
		return NULL;
	if (class[0] != 'b' || class[1] != 'l' || class[2] != 'o' || class[3] != 'c' ||
	    class[4] != 'k' || class[5])
		return NULL;
	return (const void *)device - bpf_core_field_offset(struct block_device, bd_device);
}

/*
 * Before Linux 6.10 the counters of a device only include requests of drivers without request
 * queues; for the others /proc/diskstats counts the tags of requests that the driver is working on.
 * A tag keeps its last request, which may use another tag by now.  A queue may
 * share its tags with the queues of other disks.  Not static, because clang would divide it into
 * variables with names that BTF refuses.
 */
struct tag_walk {
	const struct block_device *device;
	const struct request_queue *queue;
	const struct blk_mq_tags *tags;
	__u64 sets; /* address of the tags of each hardware queue */
	__u64 busy; /* bits */
	__u32 word;
	__u32 is_partition;
	__u64 in_flight;
} tag_walk;

static long count_request(__u32 bit, void *nothing)
{
	const struct blk_mq_tags *tags = tag_walk.tags;
	const struct block_device *part;
	const struct request *request;
	__u32 tag;

	if (!(tag_walk.busy >> (bit & (WORD_BITS - 1)) & 1))
		return 0;
	tag = (tag_walk.word << BPF_CORE_READ(tags, bitmap_tags.sb.shift)) + bit +
	      BPF_CORE_READ(tags, nr_reserved_tags);
	request = READ(const struct request *,
		       (__u64)BPF_CORE_READ(tags, rqs) + sizeof(__u64) * tag);
	if (!request || BPF_CORE_READ(request, q) != tag_walk.queue ||
	    (__u32)BPF_CORE_READ(request, tag) != tag ||
	    BPF_CORE_READ(request, state) != STATE_IN_FLIGHT)
		return 0;
	part = BPF_CORE_READ(request, part);
	if (part && (!tag_walk.is_partition || part == tag_walk.device))
		tag_walk.in_flight++;
	return 0;
}

static long count_word(__u32 number, void *nothing)
{
	const struct blk_mq_tags *tags = tag_walk.tags;
	const struct sbitmap_word *word =
		(const void *)BPF_CORE_READ(tags, bitmap_tags.sb.map) +
		number * bpf_core_type_size(struct sbitmap_word);

	if (number >= BPF_CORE_READ(tags, bitmap_tags.sb.map_nr))
		return 1;
	tag_walk.busy = BPF_CORE_READ(word, word) & ~BPF_CORE_READ(word, cleared);
	tag_walk.word = number;
	if (tag_walk.busy)
		bpf_loop(WORD_BITS, count_request, NULL, 0);
	return 0;
}

static long count_queue(__u32 number, void *nothing)
{
	tag_walk.tags = READ(const struct blk_mq_tags *, tag_walk.sets + sizeof(__u64) * number);
	if (tag_walk.tags)
		bpf_loop(WORDS_MAX, count_word, NULL, 0);
	return 0;
}

static __always_inline __u64 count_tags(const struct block_device *device)
{
	const struct request_queue *queue = BPF_CORE_READ(device, bd_queue);
	const struct blk_mq_tag_set *set = BPF_CORE_READ(queue, tag_set);
	const __u32 queues = BPF_CORE_READ(set, nr_hw_queues);

	tag_walk.device = device;
	tag_walk.queue = queue;
	tag_walk.is_partition = BPF_CORE_READ(device, bd_disk, part0) != device;
	tag_walk.in_flight = 0;
	tag_walk.sets = (__u64)BPF_CORE_READ(set, tags);
	bpf_loop(BPF_CORE_READ(set, flags) & SHARED_TAGS ? 1 :
		 queues < QUEUES_MAX			 ? queues :
							   QUEUES_MAX,
		 count_queue, NULL, 0);
	return tag_walk.in_flight;
}

/* The sum of struct disk_stats over CPUs, and a copy of one of them. */
struct disk_sum {
	__u64 address; /* per CPU */
	__u64 nsecs[4];
	__u64 sectors[4];
	__u64 ios[4];
	__u64 merges[4];
	__u64 io_ticks;
	__s64 in_flight;
	__u64 copy[4];
} disk_sum;

#define ADD(stats, member)                                           \
	do {                                                         \
		BPF_CORE_READ_INTO(&disk_sum.copy, (stats), member); \
		disk_sum.member[0] += disk_sum.copy[0];              \
		disk_sum.member[1] += disk_sum.copy[1];              \
		disk_sum.member[2] += disk_sum.copy[2];              \
		disk_sum.member[3] += disk_sum.copy[3];              \
	} while (0)

static long add_cpu(__u32 place, void *nothing)
{
	const struct disk_stats *stats =
		(const void *)answer__at_cpu(disk_sum.address, answer__cpu(place));

	ADD(stats, nsecs);
	ADD(stats, sectors);
	ADD(stats, ios);
	ADD(stats, merges);
	disk_sum.io_ticks += BPF_CORE_READ(stats, io_ticks);
	disk_sum.in_flight += (__s64)BPF_CORE_READ(stats, in_flight[0].a.counter) +
			      (__s64)BPF_CORE_READ(stats, in_flight[1].a.counter);
	return 0;
}

/* One attempt to add up the counters. */
struct attempt {
	const struct block_device *device;
	__u64 stamp; /* jiffies: the time of the last change of io_ticks */
	__u64 now; /* jiffies */
	__u64 in_flight; /* requests */
} attempt; /* not static: see tag_walk */

static __always_inline __u64 count_in_flight(const struct block_device *device)
{
	if (LINUX_KERNEL_VERSION < KERNEL_VERSION(6, 10, 0) &&
	    BPF_CORE_READ(device, bd_queue, mq_ops))
		return count_tags(device);
	return disk_sum.in_flight > 0 ? disk_sum.in_flight : 0;
}

/*
 * Sums the counters.  The attempt succeeds if io_ticks did not change until after the last value,
 * the time, was taken: the requests that were in flight were so all the time since the stamp.
 */
static long sum_stats(__u32 round, void *nothing)
{
	const struct block_device *device = attempt.device;

	attempt.stamp = BPF_CORE_READ(device, bd_stamp);
	__builtin_memset(&disk_sum, 0, sizeof(disk_sum));
	disk_sum.address = (__u64)BPF_CORE_READ(device, bd_stats);
	bpf_loop(answer__cpu_count(), add_cpu, NULL, 0);
	attempt.in_flight = count_in_flight(device);
	attempt.now = bpf_jiffies64();
	return BPF_CORE_READ(device, bd_stamp) == attempt.stamp;
}

/*
 * The kernel adds to io_ticks when a request begins or ends; readers of /proc/diskstats add the
 * time since then while requests are in flight.
 */
static __always_inline __u64 ticks_since_stamp(void)
{
	const __s64 passed = attempt.now - attempt.stamp;

	return attempt.in_flight && passed > 0 ? passed : 0;
}

/* The clock source that counts ticks has their length; newer kernels have no variable with it. */
static __always_inline __u32 ticks_to_ms(__u64 ticks)
{
	const struct clocksource *clock = (const void *)clocksource_jiffies;
	const __u64 nsec = BPF_CORE_READ(clock, mult) >> (BPF_CORE_READ(clock, shift) & 31);

	return nsec ? ticks * MSEC_PER_SEC / ((NSEC_PER_SEC + nsec / 2) / nsec) : 0;
}

/* Like diskstats_show() of block/genhd.c. */
static __always_inline int answer_io(struct gather_question *question,
				     const struct block_device *device)
{
	struct dart_zero_disk_io *io;

	attempt.device = device;
	bpf_loop(ROUNDS, sum_stats, NULL, 0);
	io = ANSWER_SAMPLE(question, struct dart_zero_disk_io);
	if (!io)
		return -ENOSPC;
	*io = (struct dart_zero_disk_io){
		.read_ios = disk_sum.ios[STAT_READ],
		.read_merges = disk_sum.merges[STAT_READ],
		.read_sectors = disk_sum.sectors[STAT_READ],
		.read_ticks = disk_sum.nsecs[STAT_READ] / NSEC_PER_MSEC,
		.write_ios = disk_sum.ios[STAT_WRITE],
		.write_merges = disk_sum.merges[STAT_WRITE],
		.write_sectors = disk_sum.sectors[STAT_WRITE],
		.write_ticks = disk_sum.nsecs[STAT_WRITE] / NSEC_PER_MSEC,
		.in_flight = attempt.in_flight,
		.io_ticks = ticks_to_ms(disk_sum.io_ticks + ticks_since_stamp()),
		.time_in_queue = (disk_sum.nsecs[STAT_READ] + disk_sum.nsecs[STAT_WRITE] +
				  disk_sum.nsecs[STAT_DISCARD] + disk_sum.nsecs[STAT_FLUSH]) /
				 NSEC_PER_MSEC,
		.discard_ios = disk_sum.ios[STAT_DISCARD],
		.discard_merges = disk_sum.merges[STAT_DISCARD],
		.discard_sectors = disk_sum.sectors[STAT_DISCARD],
		.discard_ticks = disk_sum.nsecs[STAT_DISCARD] / NSEC_PER_MSEC,
		.flush_ios = disk_sum.ios[STAT_FLUSH],
		.flush_ticks = disk_sum.nsecs[STAT_FLUSH] / NSEC_PER_MSEC,
	};
	return 0;
}

static __always_inline int answer_device(struct gather_question *question,
					 const struct block_device *device)
{
	switch (question->source) {
	case DART_ZERO_SOURCE_DISK:
		return answer__copies(question, (__u64)BPF_CORE_READ(device, bd_stats),
				      bpf_core_type_size(struct disk_stats));
	case DART_ZERO_SOURCE_DISK_IO:
		return answer_io(question, device);
	default:
		return -EINVAL;
	}
}

static __always_inline int disks(struct gather_question *question)
{
	const struct kernfs_node *node = answer__node(question->fd, SYSFS_MAGIC);
	const struct block_device *device;
	int ret;

	device = node && is_there(node) ? device_of(node) : NULL;
	ret = device ? answer_device(question, device) : 0;
	if (!device || !is_there(node)) {
		question->answer = GATHER_ENDED;
		question->rows = 0;
		return 0;
	}
	return ret;
}

ANSWER_QUESTIONS(disks)

char LICENSE[] SEC("license") = "GPL";
