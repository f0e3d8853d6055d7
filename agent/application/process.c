// SPDX-License-Identifier: GPL-2.0-only
/* Finds the modules of a running program: see process.h. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_image.h"
#include "proc_files.h"

#define AUXV_MAX 128 /* pairs of the auxiliary vector */

/* ---- the executable */

/*
 * Finds an entry of the auxiliary vector in the file @name.  The kernel makes it at execve(2), and
 * the program can change it by prctl(2).  Returns 0; -ENODATA without the entry; or another -errno.
 */
static int find_auxiliary(int directory, const char *name, uint64_t type, uint64_t *value)
{
	uint64_t pairs[AUXV_MAX][2];
	const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	ssize_t length, i;

	if (fd < 0)
		return -errno;
	length = read(fd, pairs, sizeof(pairs));
	close(fd);
	for (i = 0; i < length / (ssize_t)sizeof(pairs[0]); i++) {
		if (pairs[i][0] != type)
			continue;
		*value = pairs[i][1];
		return 0;
	}
	return -ENODATA;
}

/*
 * The kernel tells where the program headers lie; linkers put them right after the ELF header.
 * (Mappings tell less: their devices are others than stat(2) shows for overlayfs and btrfs.)
 */
static int open_executable(const struct proc_files *files, struct elf_image *image,
			   struct dart_error *error)
{
	const struct elf_memory memory = proc_files__memory(files);
	uint64_t program_headers;
	int ret = -ENOEXEC;

	if (!find_auxiliary(files->directory, "auxv", AT_PHDR, &program_headers) &&
	    program_headers > sizeof(Elf64_Ehdr))
		ret = elf_image__open(image, &memory, program_headers - sizeof(Elf64_Ehdr));
	if (ret == -ESRCH)
		return proc_files__ended(error);
	return ret ? dart_error__set(error, ENOEXEC,
				     "process %d does not execute a 64-bit ELF program",
				     files->pid) :
		     0;
}

/*
 * A process can execute one program after the other, so the file itself has to have the build-id.
 * Its time is taken first: a file that is written meanwhile gets another one.
 */
static void find_file(const struct proc_files *files, const struct dart_application_build_id *id,
		      struct executable_file *file)
{
	struct dart_application_build_id of_file;
	struct elf_memory contents = {};
	struct elf_image image;

	contents.file = openat(files->directory, "exe", O_RDONLY | O_CLOEXEC);
	if (contents.file < 0)
		return;
	if (!executable_file__read(file, contents.file, "") ||
	    elf_image__open(&image, &contents, 0) || elf_image__build_id(&image, &of_file) ||
	    !dart_application_build_id__equals(&of_file, id))
		file->inode = 0;
	close(contents.file);
}

int application_process__build_id(int pidfd, struct dart_application_build_id *id,
				  struct executable_file *file, struct dart_error *error)
{
	struct proc_files files;
	struct elf_image image;
	int ret = proc_files__open(&files, pidfd, error);

	if (file)
		file->inode = 0;
	if (ret)
		return ret;
	ret = open_executable(&files, &image, error);
	if (!ret) {
		ret = elf_image__build_id(&image, id);
		if (ret == -ESRCH)
			proc_files__ended(error);
		else if (ret)
			ret = dart_error__set(error, ENOEXEC,
					      "the program of process %d has no build-id",
					      files.pid);
	}
	if (file && !ret)
		find_file(&files, id, file);
	proc_files__close(&files);
	return ret;
}

/* ---- modules */

static int compare(const struct elf_image *image, const struct dart_application_module *module,
		   pid_t pid, struct dart_error *error)
{
	char wanted[2 * DART_APPLICATION_BUILD_ID_MAX + 1], found[sizeof(wanted)];
	struct dart_application_build_id id = {};
	int ret;

	if (!module->build_id.length)
		return 0;
	ret = elf_image__build_id(image, &id);
	if (ret == -ESRCH)
		return proc_files__ended(error);
	if (!ret && dart_application_build_id__equals(&id, &module->build_id))
		return 0;
	dart_application_build_id__print(&module->build_id, wanted);
	dart_application_build_id__print(&id, found);
	return dart_error__set(
		error, ENOEXEC,
		"%s of process %d has %s%s, but the layout is for %s (make one for this build: dartctl application describe)",
		module->soname ?: "the executable", pid, ret ? "no build-id" : "the build-id ",
		found, wanted);
}

/*
 * Looks at all mappings of the beginning of a file.  Returns 0, -ESRCH, or -ENOEXEC if none is the
 * module, or none of its build.
 */
static int find_module(const struct proc_files *files, const struct dart_application_module *module,
		       uint64_t *base, struct dart_error *error)
{
	const struct elf_memory memory = proc_files__memory(files);
	unsigned long long start, offset;
	struct elf_image image;
	char *line = NULL;
	size_t size = 0;
	FILE *maps;
	int at, ret;

	ret = dart_error__set(error, ENOEXEC, "process %d has not loaded '%s'", files->pid,
			      module->soname);
	maps = proc_files__open_maps(files, &ret, error);
	if (!maps)
		return ret;
	while (ret == -ENOEXEC && getline(&line, &size, maps) > 0) {
		at = 0;
		if (sscanf(line, "%llx-%*x %*s %llx %*s %*s %n", &start, &offset, &at) < 2 || !at ||
		    offset || line[at] != '/')
			continue;
		if (elf_image__open(&image, &memory, start) ||
		    !elf_image__is_called(&image, module->soname))
			continue;
		ret = compare(&image, module, files->pid, error);
		*base = image.base;
	}
	free(line);
	fclose(maps);
	return ret;
}

/* ---- checks */

static struct elf_memory application_process__memory(const struct application_process *process)
{
	return (struct elf_memory){ .pid = process->pid, .file = process->memory };
}

static int fetch_value(const struct application_process *process,
		       const struct dart_application_location *location, uint8_t width,
		       uint64_t *value)
{
	const struct elf_memory memory = application_process__memory(process);
	uint64_t address = process->bases[location->module] + location->address;
	uint32_t i;
	int ret;

	*value = 0;
	for (i = 0; i < location->steps; i++) {
		ret = elf_image__fetch(&memory, address, &address, sizeof(address));
		if (ret)
			return ret;
		if (!address)
			return 0;
		address += location->offsets[i];
	}
	/* Little-endian, as the host is. */
	return elf_image__fetch(&memory, address, value, width);
}

int application_process__check(const struct application_process *process,
			       const struct dart_application_layout *layout,
			       struct dart_error *error)
{
	const struct dart_application_check *check;
	uint64_t value;
	uint32_t i;
	int ret;

	for (i = 0; i < layout->check_count; i++) {
		check = &layout->checks[i];
		ret = fetch_value(process, &check->location, check->width, &value);
		if (ret == -ESRCH)
			return proc_files__ended(error);
		if (ret || value != check->equals)
			return dart_error__set(
				error, ENOEXEC,
				"check %u of the layout fails for process %d: %s%llu instead of %llu (the program is of another version)",
				i + 1, process->pid, ret ? "nothing can be read, " : "",
				(unsigned long long)value, (unsigned long long)check->equals);
	}
	return 0;
}

/* ---- attaching */

static bool fetch_witness(const struct application_process *process,
			  uint8_t witness[static APPLICATION_WITNESS_BYTES])
{
	const struct elf_memory memory = application_process__memory(process);

	return elf_memory__fetch_some(&memory, process->witness_address, witness,
				      APPLICATION_WITNESS_BYTES) == APPLICATION_WITNESS_BYTES;
}

/* Before anything else is read, so that all that was read by the last check is of one program. */
static int take_witness(struct application_process *process, const struct proc_files *files,
			struct dart_error *error)
{
	const struct elf_memory memory = application_process__memory(process);

	if (!find_auxiliary(files->directory, "auxv", AT_RANDOM, &process->witness_address) &&
	    fetch_witness(process, process->witness))
		return 0;
	if (!elf_memory__lives(&memory))
		return proc_files__ended(error);
	return dart_error__set(
		error, ENOEXEC,
		"process %d has removed the random bytes of its stack, by which dartd knows its program",
		process->pid);
}

int application_process__attach(struct application_process *process, int pidfd,
				const struct dart_application_layout *layout,
				struct dart_error *error)
{
	struct proc_files files;
	struct elf_image image;
	uint32_t i;
	int ret = proc_files__open(&files, pidfd, error);

	if (ret)
		return ret;
	*process = (struct application_process){ .pid = files.pid, .memory = files.memory };
	ret = take_witness(process, &files, error) ?: open_executable(&files, &image, error);
	if (!ret) {
		process->bases[0] = layout->modules[0].is_address_space ? 0 : image.base;
		ret = compare(&image, &layout->modules[0], files.pid, error);
	}
	for (i = 1; !ret && i < layout->module_count; i++)
		ret = find_module(&files, &layout->modules[i], &process->bases[i], error);
	if (!ret)
		ret = application_process__check(process, layout, error);
	/* What /proc told may be about a program that was executed meanwhile. */
	if (!ret && !application_process__has_program(process))
		ret = proc_files__ended(error);
	if (ret)
		close(files.memory);
	close(files.directory);
	return ret;
}

void application_process__detach(struct application_process *process)
{
	close(process->memory);
}

bool application_process__lives(const struct application_process *process)
{
	const struct elf_memory memory = application_process__memory(process);
	uint8_t witness[APPLICATION_WITNESS_BYTES];

	return elf_memory__lives(&memory) && fetch_witness(process, witness) &&
	       !memcmp(witness, process->witness, sizeof(witness));
}

bool application_process__has_program(const struct application_process *process)
{
	uint64_t address = 0;
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/auxv", process->pid);
	ret = find_auxiliary(AT_FDCWD, path, AT_RANDOM, &address);
	/* A dartd without descriptors or memory knows no better. */
	if (ret != -EMFILE && ret != -ENFILE && ret != -ENOMEM &&
	    (ret || address != process->witness_address))
		return false;
	return application_process__lives(process);
}
