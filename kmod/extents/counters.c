// SPDX-License-Identifier: GPL-2.0-only
/* Counters of other modules and eBPF programs, and the extents over them. */
#include "counters.h"

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/xarray.h>

#include <linux/dart_zero.h>

#include "dart_counters.h"
#include "extent.h"
#include "kmod/base/compat.h"
#include "percpu.h"

struct dart_counters {
	struct dart_percpu percpu;
	struct rcu_head rcu;
	u64 __percpu *values;
	u32 count;
	u32 id;
	bool is_listed;			/* guarded by dart_percpu_lock */
	struct hlist_node named;	/* in by_name, likewise */
	bool is_for_programs;		/* programs may add to them */
	char name[DART_ZERO_NAME_LENGTH];
	char type[DART_ZERO_NAME_LENGTH];
	char module[DART_ZERO_NAME_LENGTH];
};

/* The counters by id, while they can be found.  Changed with dart_percpu_lock held. */
static DEFINE_XARRAY_ALLOC1(all_counters);
static DEFINE_HASHTABLE(by_name, 10);
static u32 last_id;

static struct dart_counters *of_percpu(struct dart_percpu *percpu)
{
	return container_of(percpu, struct dart_counters, percpu);
}

static void counters_free_rcu(struct rcu_head *rcu)
{
	struct dart_counters *counters = container_of(rcu, struct dart_counters, rcu);

	free_percpu(counters->values);
	kfree(counters);
}

/* An eBPF program may have found the counters just before they ended. */
static void counters_free(struct dart_percpu *percpu)
{
	call_rcu(&of_percpu(percpu)->rcu, counters_free_rcu);
}

static u32 hash_name(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

static struct dart_counters *counters_find(const char *name)
{
	struct dart_counters *counters;

	lockdep_assert_held(&dart_percpu_lock);
	hash_for_each_possible(by_name, counters, named, hash_name(name))
		if (!strcmp(counters->name, name))
			return counters;
	return NULL;
}

static bool is_name(const char *name)
{
	const char *at;

	for (at = name; *at; at++)
		if (*at <= ' ' || *at > '~')
			return false;
	return at > name && at - name < DART_ZERO_NAME_LENGTH;
}

static int counters_enlist(struct dart_counters *counters)
{
	int ret = -EEXIST;

	mutex_lock(&dart_percpu_lock);
	if (!counters_find(counters->name))
		ret = xa_alloc_cyclic(&all_counters, &counters->id, counters,
				      xa_limit_31b, &last_id, GFP_KERNEL);
	counters->is_listed = ret >= 0;
	if (counters->is_listed)
		hash_add(by_name, &counters->named, hash_name(counters->name));
	mutex_unlock(&dart_percpu_lock);
	return ret < 0 ? ret : 0;
}

/* The counters are on separate pages, so that a region shows nothing else. */
static struct dart_counters *counters_new(const char *name, const char *type, size_t size,
					  const char *module, bool is_for_programs)
{
	struct dart_counters *counters;
	int ret = -ENOMEM;

	if (!is_name(name) || !size || size > DART_COUNTERS_SIZE_MAX)
		return ERR_PTR(-EINVAL);

	counters = kzalloc(sizeof(*counters), GFP_KERNEL_ACCOUNT);
	if (!counters)
		return ERR_PTR(-ENOMEM);
	counters->values = __alloc_percpu_gfp(PAGE_ALIGN(size), PAGE_SIZE, GFP_KERNEL_ACCOUNT);
	if (!counters->values)
		goto err_free;

	counters->count = size / sizeof(u64);
	counters->is_for_programs = is_for_programs;
	strscpy(counters->name, name, sizeof(counters->name));
	strscpy(counters->type, type, sizeof(counters->type));
	strscpy(counters->module, module, sizeof(counters->module));
	dart_percpu_init(&counters->percpu, counters->values, size, counters->type, counters_free);
	ret = counters_enlist(counters);
	if (ret)
		goto err_free;
	return counters;

err_free:
	free_percpu(counters->values);
	kfree(counters);
	return ERR_PTR(ret);
}

/* Nobody finds the counters from now on, and the regions that show them are told. */
static void counters_end(struct dart_counters *counters)
{
	mutex_lock(&dart_percpu_lock);
	if (counters->is_listed) {
		xa_erase(&all_counters, counters->id);
		hash_del(&counters->named);
	}
	counters->is_listed = false;
	dart_percpu_end(&counters->percpu);
	mutex_unlock(&dart_percpu_lock);
}

int __dart_counters_register(const char *name, const char *type, size_t size, struct module *module,
			     void __percpu **result)
{
	struct dart_counters *counters;

	/* In BTF the name has no "struct". */
	if (!strncmp(type, "struct ", 7))
		type += 7;
	if (strlen(type) >= DART_ZERO_NAME_LENGTH)
		return -EINVAL;

	counters = counters_new(name, type, size, module ? module_name(module) : "", false);
	if (IS_ERR(counters))
		return PTR_ERR(counters);
	*result = counters->values;
	return 0;
}
EXPORT_SYMBOL_GPL(__dart_counters_register);

void dart_counters_unregister(const void __percpu *values)
{
	struct dart_counters *counters;
	unsigned long id;

	mutex_lock(&dart_percpu_lock);
	xa_for_each(&all_counters, id, counters)
		if (counters->values == values)
			break;
	mutex_unlock(&dart_percpu_lock);
	if (WARN_ON_ONCE(!counters))
		return;

	counters_end(counters);
	dart_percpu_put(&counters->percpu);
}
EXPORT_SYMBOL_GPL(dart_counters_unregister);

static int counters_show(struct dart_extent *extent)
{
	const struct dart_counters *counters = of_percpu(extent->held);

	extent->info.counters_id = counters->id;
	strscpy(extent->info.module, counters->module, sizeof(extent->info.module));
	return dart_percpu_extent_show(extent);
}

static void counters_extent_end(struct dart_extent *extent)
{
	if (extent->owns_counters)
		counters_end(of_percpu(extent->held));
	dart_percpu_extent_end(extent);
}

static const struct dart_extent_kind counters_kind = {
	.id = DART_ZERO_EXTENT_COUNTERS,
	.show = counters_show,
	.begin = dart_percpu_extent_begin,
	.end = counters_extent_end,
	.release = dart_percpu_extent_release,
};

static struct dart_counters *counters_get(const char *name)
{
	struct dart_counters *counters;

	mutex_lock(&dart_percpu_lock);
	counters = counters_find(name);
	if (counters)
		dart_percpu_get(&counters->percpu);
	mutex_unlock(&dart_percpu_lock);
	return counters ?: ERR_PTR(-ENOENT);
}

struct dart_extent *dart_counters_open(const struct dart_zero_counters *request)
{
	bool is_new = request->flags & DART_ZERO_COUNTERS_CREATE;
	struct dart_counters *counters;
	struct dart_extent *extent;

	if (!is_name(request->name) || is_new != !!request->count)
		return ERR_PTR(-EINVAL);
	counters = is_new ?
			   counters_new(request->name, "", request->count * sizeof(u64), "", true) :
			   counters_get(request->name);
	if (IS_ERR(counters))
		return ERR_CAST(counters);

	extent = dart_percpu_extent_new(&counters_kind, dart_percpu_get(&counters->percpu));
	if (!IS_ERR(extent))
		extent->owns_counters = is_new;
	else if (is_new)
		counters_end(counters);
	dart_percpu_put(&counters->percpu);
	return extent;
}

__bpf_kfunc int bpf_dart_counters_add(u32 id, u32 index, u64 value)
{
	struct dart_counters *counters;
	int ret = 0;

	rcu_read_lock();
	counters = xa_load(&all_counters, id);
	if (!counters)
		ret = -ENOENT;
	else if (!counters->is_for_programs)
		ret = -EPERM;
	else if (index >= counters->count)
		ret = -EINVAL;
	else
		this_cpu_add(counters->values[index], value);
	rcu_read_unlock();
	return ret;
}

BTF_KFUNCS_START(dart_kfuncs)
BTF_ID_FLAGS(func, bpf_dart_counters_add)
BTF_KFUNCS_END(dart_kfuncs)

static const struct btf_kfunc_id_set dart_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &dart_kfuncs,
};

int dart_counters_init(void)
{
	static const enum bpf_prog_type types[] = {
		BPF_PROG_TYPE_TRACING,
		BPF_PROG_TYPE_XDP,
		BPF_PROG_TYPE_SCHED_CLS,
		BPF_PROG_TYPE_SYSCALL,
	};
	size_t i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(types) && !ret; i++)
		ret = register_btf_kfunc_id_set(types[i], &dart_kfunc_set);
	return ret;
}

void dart_counters_exit(void)
{
	rcu_barrier();
	xa_destroy(&all_counters);
}
