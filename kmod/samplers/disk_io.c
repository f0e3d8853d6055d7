// SPDX-License-Identifier: GPL-2.0-only
/* Samples block devices: all columns of /proc/diskstats, as it computes them. */
#include "sampler.h"

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/part_stat.h>
#include <linux/percpu-refcount.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <linux/dart_zero.h>

#include "kmod/objects/disk.h"

/* Most attempts to add up the counters of a busy device. */
#define ROUNDS 4

struct disk_sampler {
	struct dart_sampler sampler;
	struct inode *inode;		/* of the device; it owns the counters */
	unsigned long ticks;		/* io_ticks of the last sample */
};

/* A device that was removed can no longer be found by its number. */
static bool is_removed(const struct disk_sampler *sampler)
{
	return inode_unhashed(sampler->inode);
}

/*
 * The queue of a device that exists; queue_put() releases it.  The kernel frees the queue after the
 * removal of the device and a grace period of RCU, and the driver frees its tags only when nothing
 * uses the queue.
 */
static struct request_queue *queue_get(const struct disk_sampler *sampler)
{
	struct request_queue *queue = NULL;

	rcu_read_lock();
	if (!is_removed(sampler)) {
		queue = bdev_get_queue(I_BDEV(sampler->inode));
		if (!percpu_ref_tryget(&queue->q_usage_counter))
			queue = NULL;
	}
	rcu_read_unlock();
	return queue;
}

static void queue_put(struct request_queue *queue)
{
	percpu_ref_put(&queue->q_usage_counter);
}

struct started {
	const struct request_queue *queue;
	struct block_device *device;
	long count;
};

/* A queue may share its tags with those of other disks. */
static bool count_started(struct request *request, void *data)
{
	struct started *started = data;

	if (request->q == started->queue && request->part &&
	    (!bdev_is_partition(started->device) || request->part == started->device) &&
	    blk_mq_rq_state(request) == MQ_RQ_IN_FLIGHT)
		started->count++;
	return true;
}

/*
 * The requests that the driver has.  Before 6.10 the counters of a device only include requests of
 * drivers without request queues, and /proc/diskstats counts the tags as well.  Returns -1 if the
 * counters include all of them.
 */
static long count_requests(const struct disk_sampler *sampler)
{
	struct started started = { .device = I_BDEV(sampler->inode) };
	struct request_queue *queue = queue_get(sampler);

	if (!queue)
		return 0;
	if (queue_is_mq(queue)) {
		started.queue = queue;
		blk_mq_tagset_busy_iter(queue->tag_set, count_started, &started);
	} else {
		started.count = -1;
	}
	queue_put(queue);
	return started.count;
}

/* Adds up the copies of all CPUs. */
static void sum_stats(const struct block_device *device, struct disk_stats *sum, long *in_flight)
{
	const struct disk_stats *copy;
	int cpu, group;

	memset(sum, 0, sizeof(*sum));
	*in_flight = 0;
	for_each_possible_cpu(cpu) {
		copy = per_cpu_ptr(device->bd_stats, cpu);
		for (group = 0; group < NR_STAT_GROUPS; group++) {
			sum->nsecs[group] += READ_ONCE(copy->nsecs[group]);
			sum->sectors[group] += READ_ONCE(copy->sectors[group]);
			sum->ios[group] += READ_ONCE(copy->ios[group]);
			sum->merges[group] += READ_ONCE(copy->merges[group]);
		}
		sum->io_ticks += READ_ONCE(copy->io_ticks);
		*in_flight += local_read(&copy->in_flight[0]) + local_read(&copy->in_flight[1]);
	}
	*in_flight = max(*in_flight, 0L);
}

/*
 * The kernel adds to io_ticks when a request begins or ends.  While some are in flight,
 * /proc/diskstats first adds the time since then; the same without writing.
 */
static unsigned long ticks_since(unsigned long stamp, long in_flight)
{
	const unsigned long now = jiffies;

	return in_flight && time_after(now, stamp) ? now - stamp : 0;
}

/*
 * io_ticks and its time stamp belong together.  On a busy device they may change during each round:
 * then ticks of the last round are missing until the next sample, and until then io_ticks does not
 * fall.
 */
static void sum_with_ticks(struct disk_sampler *sampler, struct disk_stats *sum,
			   long *in_flight, unsigned long *stamp)
{
	const struct block_device *device = I_BDEV(sampler->inode);
	unsigned long before;
	int round = 0;

	*stamp = READ_ONCE(device->bd_stamp);
	do {
		before = *stamp;
		/* Pairs with the order in which update_io_ticks() writes. */
		smp_rmb();
		sum_stats(device, sum, in_flight);
		/* As above. */
		smp_rmb();
		*stamp = READ_ONCE(device->bd_stamp);
	} while (*stamp != before && ++round < ROUNDS);
}

static unsigned long rising_ticks(struct disk_sampler *sampler, unsigned long ticks)
{
	if (time_after(ticks, sampler->ticks))
		sampler->ticks = ticks;
	return sampler->ticks;
}

static u64 ms_of(u64 nsecs)
{
	return div_u64(nsecs, NSEC_PER_MSEC);
}

/* diskstats_show() of block/genhd.c. */
static int sample_io(struct dart_sampler *base, void *sample, u64 *time)
{
	struct disk_sampler *sampler = container_of(base, struct disk_sampler, sampler);
	struct dart_zero_disk_io *io = sample;
	struct disk_stats sum;
	unsigned long stamp;
	long in_flight, requests;

	if (is_removed(sampler))
		return -ENODEV;
	requests = count_requests(sampler);
	sum_with_ticks(sampler, &sum, &in_flight, &stamp);
	if (requests >= 0)
		in_flight = requests;

	io->read_ios = sum.ios[STAT_READ];
	io->read_merges = sum.merges[STAT_READ];
	io->read_sectors = sum.sectors[STAT_READ];
	io->read_ticks = ms_of(sum.nsecs[STAT_READ]);
	io->write_ios = sum.ios[STAT_WRITE];
	io->write_merges = sum.merges[STAT_WRITE];
	io->write_sectors = sum.sectors[STAT_WRITE];
	io->write_ticks = ms_of(sum.nsecs[STAT_WRITE]);
	io->in_flight = in_flight;
	io->io_ticks = jiffies_to_msecs(rising_ticks(sampler, sum.io_ticks +
						     ticks_since(stamp, in_flight)));
	io->time_in_queue = ms_of(sum.nsecs[STAT_READ] + sum.nsecs[STAT_WRITE] +
				  sum.nsecs[STAT_DISCARD] + sum.nsecs[STAT_FLUSH]);
	io->discard_ios = sum.ios[STAT_DISCARD];
	io->discard_merges = sum.merges[STAT_DISCARD];
	io->discard_sectors = sum.sectors[STAT_DISCARD];
	io->discard_ticks = ms_of(sum.nsecs[STAT_DISCARD]);
	io->flush_ios = sum.ios[STAT_FLUSH];
	io->flush_ticks = ms_of(sum.nsecs[STAT_FLUSH]);
	return 0;
}

static void sampler_free(struct dart_sampler *base)
{
	struct disk_sampler *sampler = container_of(base, struct disk_sampler, sampler);

	iput(sampler->inode);
	kfree(sampler);
}

static const struct dart_sampler_kind io_kind = {
	.name = "dart_zero_disk_io",
	.length = sizeof(struct dart_zero_disk_io),
	.sample = sample_io,
	.free = sampler_free,
};

struct dart_sampler *dart_disk_sampler_open(const struct dart_zero_window *window)
{
	struct inode *inode = dart_disk_hold(window->fd);
	struct disk_sampler *sampler;

	if (IS_ERR(inode))
		return ERR_CAST(inode);
	sampler = kzalloc(sizeof(*sampler), GFP_KERNEL_ACCOUNT);
	if (!sampler) {
		iput(inode);
		return ERR_PTR(-ENOMEM);
	}
	sampler->sampler.kind = &io_kind;
	sampler->inode = inode;
	return &sampler->sampler;
}
