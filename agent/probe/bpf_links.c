// SPDX-License-Identifier: GPL-2.0-only
/* Attaches eBPF programs to the kernel, and runs iterators once. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf_links.h"

#define ROOT_CGROUP "/sys/fs/cgroup"

static bool is_iterator(const struct bpf_program *program)
{
	return bpf_program__expected_attach_type(program) == BPF_TRACE_ITER;
}

static struct bpf_link *attach_to_root_cgroup(const struct bpf_program *program)
{
	int cgroup = open(ROOT_CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct bpf_link *link;
	int code;

	if (cgroup < 0)
		return NULL;
	/* A link adds a program; it replaces none of other processes. */
	link = bpf_program__attach_cgroup(program, cgroup);
	code = errno;
	close(cgroup);
	errno = code;
	return link;
}

/* Runs an iterator over all its objects. */
static int run_iterator(const struct bpf_link *link)
{
	int fd = bpf_iter_create(bpf_link__fd(link)), ret = 0;
	char unused[64];
	ssize_t got;

	if (fd < 0)
		return fd;
	/* It prints nothing; read() returns EAGAIN after very many objects. */
	do {
		got = read(fd, unused, sizeof(unused));
	} while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	if (got < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int bpf_links__add(struct bpf_links *bpf_links, const struct bpf_program *program)
{
	struct bpf_link *link;

	if (bpf_program__type(program) == BPF_PROG_TYPE_CGROUP_SKB)
		link = attach_to_root_cgroup(program);
	else
		link = bpf_program__attach(program);
	if (!link)
		return -errno;
	bpf_links->links[bpf_links->count++] = link;
	return is_iterator(program) ? run_iterator(link) : 0;
}

int bpf_links__open(struct bpf_links *bpf_links, struct bpf_object *object)
{
	struct bpf_program *program;
	size_t programs = 0;
	int ret = 0;

	*bpf_links = (struct bpf_links){};
	bpf_object__for_each_program(program, object) programs++;
	bpf_links->links = calloc(programs, sizeof(*bpf_links->links));
	if (!bpf_links->links)
		return -ENOMEM;

	/* Iterators last: the others see events that happen while they run. */
	bpf_object__for_each_program(program, object) if (!ret && !is_iterator(program))
		ret = bpf_links__add(bpf_links, program);
	bpf_object__for_each_program(program, object) if (!ret && is_iterator(program))
		ret = bpf_links__add(bpf_links, program);
	if (ret)
		bpf_links__close(bpf_links);
	return ret;
}

void bpf_links__close_in_background(const struct bpf_links *bpf_links,
				    struct background_close *closing)
{
	size_t i;

	for (i = 0; i < bpf_links->count; i++)
		background_close__add(closing, bpf_link__fd(bpf_links->links[i]));
}

void bpf_links__close(struct bpf_links *bpf_links)
{
	while (bpf_links->count)
		bpf_link__destroy(bpf_links->links[--bpf_links->count]);
	free(bpf_links->links);
	bpf_links->links = NULL;
}
