// SPDX-License-Identifier: GPL-2.0-only
/* Loads the eBPF programs that take samples for the module. */
#include <errno.h>
#include <stdbool.h>

#include "sample_object.h"
#include "sample_programs.h"
#include "samples.skel.h"

struct program_kind {
	enum dart_zero_source source;
	const void *(*object)(size_t *size); /* an ELF file */
	bool is_optional; /* the source lacks only some values without it */
};

/* bpf/samples/NAME.bpf.c for each source that needs it. */
static const struct program_kind kinds[] = {
#define BY_MODULE(source, object)
#define BY_PROGRAM(source, object) { source, object, false },
#define BY_BOTH(source, object) { source, object, true },
#define DART_ZERO_SAMPLE(source, number, name, entry, taker, ...) \
	taker(source, name##_bpf__elf_bytes)
#include <linux/dart_zero_samples.def>
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* @error: a reason, see sample_object.h. */
static int sample_programs__load(struct sample_programs *programs, const struct program_kind *kind,
				 struct dart_error *error)
{
	struct bpf_program *program;
	struct bpf_object *object;
	struct bpf_link *link = NULL;
	size_t size;
	const void *elf = kind->object(&size);
	int ret;

	ret = sample_object__open(elf, size, BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE, &object, error);
	if (ret)
		return ret;
	ret = sample_object__load(object, error);
	if (ret)
		goto close_object;
	bpf_object__for_each_program(program, object)
		if (bpf_program__type(program) == BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE)
			link = bpf_program__attach(program);
	if (!link) {
		ret = dart_error__system(error, errno, "cannot attach its eBPF program");
		goto close_object;
	}
	programs->objects[kind - kinds] = object;
	programs->links[kind - kinds] = link;
	return 0;

close_object:
	bpf_object__close(object);
	return ret;
}

/* NULL if samples of @source need no program. */
static const struct program_kind *kind_find(enum dart_zero_source source)
{
	const struct program_kind *kind;

	for (kind = kinds; kind < kinds + KINDS; kind++)
		if (kind->source == source)
			return kind;
	return NULL;
}

const void *(*sample_programs__object(enum dart_zero_source source))(size_t *size)
{
	const struct program_kind *kind = kind_find(source);

	return kind ? kind->object : NULL;
}

int sample_programs__take(struct sample_programs *programs,
			  const struct source *source, struct dart_error *error)
{
	const struct program_kind *kind = kind_find(source->id);
	struct dart_error reason;
	int ret = 0;

	if (!kind)
		return 0;
	if (!programs->users[kind - kinds])
		ret = sample_programs__load(programs, kind, &reason);
	if (ret && !kind->is_optional)
		return sample_object__refuse(source->name, ret, &reason, error);
	programs->users[kind - kinds]++;
	return 0;
}

static void sample_programs__unload(struct sample_programs *programs, size_t index)
{
	bpf_link__destroy(programs->links[index]);
	bpf_object__close(programs->objects[index]);
	programs->links[index] = NULL;
	programs->objects[index] = NULL;
}

void sample_programs__give(struct sample_programs *programs, enum dart_zero_source source)
{
	const struct program_kind *kind = kind_find(source);

	if (kind && !--programs->users[kind - kinds])
		sample_programs__unload(programs, kind - kinds);
}

void sample_programs__close(struct sample_programs *programs)
{
	size_t i;

	for (i = 0; i < KINDS; i++)
		sample_programs__unload(programs, i);
	*programs = (struct sample_programs){};
}
