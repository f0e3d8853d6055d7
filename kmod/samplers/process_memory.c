// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples memory of a running process, which need not cooperate.  The worker takes no page fault,
 * so neither swap nor userfaultfd(2) nor a file system of the process can hold it.
 */
#include "sampler.h"

#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include <linux/dart_zero.h>

#include "kmod/base/compat.h"

struct process_memory {
	struct dart_sampler sampler;
	/* Holds the struct, but not the memory, which is free as soon as the process ends. */
	struct mm_struct *mm;
	u32 location_count;
	struct dart_zero_location locations[];
};

/*
 * Loads whole words, so that no value of 8 bytes is torn.  Returns false if a page is not there.
 * Called without page faults.
 */
static bool load_mapped(u64 address, u64 *words, u32 bytes)
{
	const u64 __user *from = u64_to_user_ptr(address);
	const u64 *end = words + bytes / sizeof(u64);

	if (!user_read_access_begin(from, bytes))
		return false;
	/* Several at once, because this is most of the work of a pass. */
	for (; end - words >= 4; words += 4, from += 4) {
		unsafe_get_user(words[0], from, fault);
		unsafe_get_user(words[1], from + 1, fault);
		unsafe_get_user(words[2], from + 2, fault);
		unsafe_get_user(words[3], from + 3, fault);
	}
	for (; words < end; words++, from++)
		unsafe_get_user(*words, from, fault);
	user_read_access_end();
	return true;

fault:
	user_read_access_end();
	return false;
}

static int load_page(struct mm_struct *mm, u64 address, u64 *words, u32 bytes)
{
	const u64 *from;
	struct page *page;
	u32 i;

	if (dart_get_page(mm, address, FOLL_NOFAULT, &page) != 1)
		return -EFAULT;
	from = kmap_local_page(page) + offset_in_page(address);
	for (i = 0; i < bytes / sizeof(u64); i++)
		words[i] = READ_ONCE(from[i]);
	kunmap_local(from);
	put_page(page);
	return 0;
}

/*
 * The kernel takes the mapping of a page in memory away for a while, to learn which node (NUMA
 * balancing) or whether at all (arm64) the process uses it.  Rare, so that other loads do not save
 * registers for it.
 */
static noinline int load_unmapped(u64 address, u64 *words, u32 bytes)
{
	struct mm_struct *mm = current->mm;
	u32 part;
	int ret = 0;

	if (!mmap_read_trylock(mm))
		return -EAGAIN;
	for (; bytes && !ret; bytes -= part) {
		part = min_t(u32, bytes, PAGE_SIZE - offset_in_page(address));
		ret = load_page(mm, address, words, part);
		address += part;
		words += part / sizeof(u64);
	}
	mmap_read_unlock(mm);
	return ret;
}

/* The kernel would report an access beyond the addresses of a process as a fault of the kernel. */
static int load(u64 address, u64 *words, u32 bytes)
{
	if (address % sizeof(u64) || address > current->mm->task_size - bytes)
		return -EFAULT;
	return load_mapped(address, words, bytes) ? 0 : load_unmapped(address, words, bytes);
}

/* Behind a null pointer there is nothing: 0. */
static int read_location(const struct dart_zero_location *location, u64 *words)
{
	u64 address = location->address, pointer;
	u32 i;
	int ret;

	for (i = 0; i < location->step_count; i++) {
		ret = load(address, &pointer, sizeof(pointer));
		if (ret)
			return ret;
		if (!pointer) {
			memset(words, 0, location->length);
			return 0;
		}
		address = pointer + location->steps[i];
	}
	return load(address, words, location->length);
}

static int read_locations(const struct process_memory *memory, u64 *words)
{
	const struct dart_zero_location *location = memory->locations;
	int ret = 0;

	/* exec() and the end of the process leave the memory without users. */
	if (!mmget_not_zero(memory->mm))
		return -ENODEV;
	kthread_use_mm(memory->mm);
	pagefault_disable();
	for (; !ret && location < memory->locations + memory->location_count; location++) {
		ret = read_location(location, words);
		words += location->length / sizeof(u64);
	}
	pagefault_enable();
	kthread_unuse_mm(memory->mm);
	/* If the process ended meanwhile, another worker frees its memory. */
	mmput_async(memory->mm);
	return ret;
}

struct read_work {
	struct work_struct work;
	const struct process_memory *memory;
	u64 *words;
	int ret;
};

static void do_read_work(struct work_struct *work)
{
	struct read_work *reading = container_of(work, struct read_work, work);

	reading->ret = read_locations(reading->memory, reading->words);
}

/* Only a kernel thread can use the memory of another process. */
static int read_by_worker(const struct process_memory *memory, u64 *words)
{
	struct read_work reading = { .memory = memory, .words = words };

	INIT_WORK_ONSTACK(&reading.work, do_read_work);
	queue_work(system_dfl_wq, &reading.work);
	flush_work(&reading.work);
	destroy_work_on_stack(&reading.work);
	return reading.ret;
}

static int sample_memory(struct dart_sampler *base, void *sample, u64 *time)
{
	const struct process_memory *memory = container_of(base, struct process_memory, sampler);

	return current->flags & PF_KTHREAD ? read_locations(memory, sample) :
					     read_by_worker(memory, sample);
}

static void process_memory_free(struct dart_sampler *base)
{
	struct process_memory *memory = container_of(base, struct process_memory, sampler);

	mmdrop(memory->mm);
	kvfree(memory);
}

static const struct dart_sampler_kind process_memory_kind = {
	.name = "process memory",
	.sample = sample_memory,
	.free = process_memory_free,
};

static bool location_is_valid(const struct dart_zero_location *location)
{
	return !(location->address % sizeof(u64)) && location->length &&
	       !(location->length % sizeof(u64)) && location->length <= DART_SAMPLE_MAX &&
	       location->step_count <= ARRAY_SIZE(location->steps) &&
	       !memchr_inv(location->steps + location->step_count, 0,
			   sizeof(location->steps) -
				   location->step_count * sizeof(location->steps[0]));
}

/* Checks the locations and adds up their lengths. */
static int take_locations(struct process_memory *memory)
{
	u32 i;

	for (i = 0; i < memory->location_count; i++) {
		if (!location_is_valid(&memory->locations[i]))
			return -EINVAL;
		memory->sampler.length += memory->locations[i].length;
		if (memory->sampler.length > DART_SAMPLE_MAX)
			return -EINVAL;
	}
	return 0;
}

/*
 * The memory of the process @number of the caller's PID namespace; the caller drops it.  @opener:
 * as in dart_process_memory_sampler_open().
 */
static struct mm_struct *memory_of(pid_t number, const struct file *opener)
{
	struct pid *pid = find_get_pid(number);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	struct mm_struct *mm;
	int ret;

	put_pid(pid);
	if (!task)
		return ERR_PTR(-ESRCH);
	/* The memory and the permission to read it are of the same execve(2). */
	ret = down_read_killable(&task->signal->exec_update_lock);
	if (ret)
		goto put_task;
	ret = -ESRCH;
	mm = get_task_mm(task);
	if (!mm)
		goto unlock;
	ret = 0;
	if (dart_may_trace(task, mm, opener))
		mmgrab(mm);
	else
		ret = -EPERM;
	mmput(mm);
unlock:
	up_read(&task->signal->exec_update_lock);
put_task:
	put_task_struct(task);
	return ret ? ERR_PTR(ret) : mm;
}

struct dart_sampler *dart_process_memory_sampler_open(const struct dart_zero_record *selected,
						      const struct file *opener)
{
	const u32 count = selected->location_count;
	struct process_memory *memory;
	int ret;

	if (count > DART_ZERO_RECORD_WORDS_MAX)
		return ERR_PTR(-EINVAL);
	memory = kvzalloc(struct_size(memory, locations, count), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	memory->sampler.kind = &process_memory_kind;
	memory->location_count = count;
	ret = -EFAULT;
	if (copy_from_user(memory->locations, u64_to_user_ptr(selected->locations),
			   array_size(count, sizeof(memory->locations[0]))))
		goto free_memory;
	ret = take_locations(memory);
	if (ret)
		goto free_memory;
	memory->mm = memory_of(selected->pid, opener);
	ret = PTR_ERR_OR_ZERO(memory->mm);
	if (ret)
		goto free_memory;
	return &memory->sampler;

free_memory:
	kvfree(memory);
	return ERR_PTR(ret);
}
