// SPDX-License-Identifier: GPL-2.0-only
/* Reads ELF headers, notes and the dynamic section out of a process: see elf_image.h. */
#include "elf_image.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define NOTES_MAX (64 << 10) /* bytes of a segment of notes */
#define DYNAMIC_MAX 1024 /* entries of a dynamic section */
#define PAGE 4096 /* segments are aligned to at least this */
#define NOWHERE (UINT64_C(1) << 56) /* above the addresses of all processes */

/* Memory without users gives no byte; memory of a process fails at this address. */
bool elf_memory__lives(const struct elf_memory *memory)
{
	uint8_t byte;

	return !memory->pid || pread(memory->file, &byte, sizeof(byte), NOWHERE);
}

static ssize_t fetch_once(const struct elf_memory *memory, uint64_t address, void *bytes,
			  size_t length)
{
	const struct iovec local = { bytes, length };
	const struct iovec remote = { (void *)(uintptr_t)address, length };

	if (!memory->pid)
		return pread(memory->file, bytes, length, address);
	return process_vm_readv(memory->pid, &local, 1, &remote, 1, 0);
}

size_t elf_memory__fetch_some(const struct elf_memory *memory, uint64_t address, void *bytes,
			      size_t length)
{
	size_t done = 0;
	ssize_t got;

	while (done < length) {
		got = fetch_once(memory, address + done, (uint8_t *)bytes + done, length - done);
		if (got <= 0)
			break;
		done += got;
	}
	return done;
}

int elf_image__fetch(const struct elf_memory *memory, uint64_t address, void *bytes, size_t length)
{
	size_t got;

	/* No memory of a program lies there. */
	if (address > INT64_MAX - length)
		return -EFAULT;
	got = elf_memory__fetch_some(memory, address, bytes, length);
	/* The bytes are worthless if another process, or another program, has the pid by now. */
	if (!elf_memory__lives(memory))
		return -ESRCH;
	return got == length ? 0 : -EFAULT;
}

/* ---- headers */

static int fetch_first(struct elf_image *image, const struct elf_memory *memory, uint64_t address)
{
	image->memory = *memory;
	image->start = address;
	if (address > INT64_MAX - sizeof(image->first))
		return -EFAULT;
	image->first_length =
		elf_memory__fetch_some(memory, address, image->first, sizeof(image->first));
	return elf_memory__lives(memory) ? 0 : -ESRCH;
}

/* As elf_image__fetch(). */
static int fetch_part(const struct elf_image *image, uint64_t address, void *bytes, size_t length)
{
	const uint64_t offset = address - image->start;

	if (offset > image->first_length || length > image->first_length - offset)
		return elf_image__fetch(&image->memory, address, bytes, length);
	memcpy(bytes, image->first + offset, length);
	return 0;
}

static bool is_known(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum &&
	       header->e_phnum <= ELF_IMAGE_HEADERS_MAX;
}

/* The segment that contains the ELF header is the one with the first bytes of the file. */
static bool find_base(struct elf_image *image, uint64_t address)
{
	const Elf64_Phdr *header;
	uint32_t i;

	for (i = 0; i < image->header_count; i++) {
		header = &image->headers[i];
		if (header->p_type != PT_LOAD || header->p_offset >= PAGE)
			continue;
		image->base = address - (header->p_vaddr - header->p_offset);
		return true;
	}
	return false;
}

int elf_image__open(struct elf_image *image, const struct elf_memory *memory, uint64_t address)
{
	Elf64_Ehdr header;
	int ret = fetch_first(image, memory, address);

	ret = ret ?: fetch_part(image, address, &header, sizeof(header));
	if (ret)
		return ret;
	if (!is_known(&header))
		return -ENOEXEC;
	image->header_count = header.e_phnum;
	ret = fetch_part(image, address + header.e_phoff, image->headers,
			 header.e_phnum * sizeof(image->headers[0]));
	if (ret)
		return ret;
	return find_base(image, address) ? 0 : -ENOEXEC;
}

/* ---- the build-id */

/* @at, rounded up, and never beyond @end. */
static uint64_t round_up(uint64_t at, uint64_t alignment, uint64_t end)
{
	at = (at + alignment - 1) / alignment * alignment;
	return at < end ? at : end;
}

/* Takes the build-id from the notes of a segment.  Returns 0; -ENOEXEC without one. */
static int find_in_notes(const struct elf_image *image, const Elf64_Phdr *segment,
			 struct dart_application_build_id *id)
{
	const uint64_t alignment = segment->p_align == 8 ? 8 : 4;
	/* Sizes are 32 bits wide: no sum overflows. */
	const uint64_t end = segment->p_filesz;
	uint64_t at = 0, name, bytes;
	char owner[sizeof(ELF_NOTE_GNU)];
	Elf64_Nhdr note;
	int ret;

	if (end > NOTES_MAX)
		return -ENOEXEC;
	while (at + sizeof(note) <= end) {
		ret = fetch_part(image, image->base + segment->p_vaddr + at, &note, sizeof(note));
		if (ret)
			return ret;
		name = at + sizeof(note);
		bytes = round_up(name + note.n_namesz, alignment, end);
		at = round_up(bytes + note.n_descsz, alignment, end);
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(owner) ||
		    !note.n_descsz || note.n_descsz > DART_APPLICATION_BUILD_ID_MAX)
			continue;
		ret = fetch_part(image, image->base + segment->p_vaddr + name, owner,
				 sizeof(owner));
		if (ret)
			return ret;
		if (memcmp(owner, ELF_NOTE_GNU, sizeof(owner)))
			continue;
		*id = (struct dart_application_build_id){ .length = note.n_descsz };
		return fetch_part(image, image->base + segment->p_vaddr + bytes, id->bytes,
				  note.n_descsz);
	}
	return -ENOEXEC;
}

int elf_image__build_id(const struct elf_image *image, struct dart_application_build_id *id)
{
	int ret = -ENOEXEC;
	uint32_t i;

	for (i = 0; ret == -ENOEXEC && i < image->header_count; i++)
		if (image->headers[i].p_type == PT_NOTE)
			ret = find_in_notes(image, &image->headers[i], id);
	return ret;
}

/* ---- the name of a shared object */

static bool find_dynamic(const struct elf_image *image, uint64_t *address, uint64_t *entries)
{
	uint32_t i;

	for (i = 0; i < image->header_count; i++) {
		if (image->headers[i].p_type != PT_DYNAMIC)
			continue;
		*address = image->base + image->headers[i].p_vaddr;
		*entries = image->headers[i].p_memsz / sizeof(Elf64_Dyn);
		return true;
	}
	return false;
}

bool elf_image__is_called(const struct elf_image *image, const char *soname)
{
	uint64_t address, entries, strings = 0, name = UINT64_MAX, i;
	const size_t length = strlen(soname) + 1;
	char found[ELF_IMAGE_SONAME_MAX];
	Elf64_Dyn entry;

	if (length > sizeof(found) || !find_dynamic(image, &address, &entries))
		return false;
	for (i = 0; i < entries && i < DYNAMIC_MAX; i++) {
		if (elf_image__fetch(&image->memory, address + i * sizeof(entry), &entry,
				     sizeof(entry)))
			return false;
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_STRTAB)
			strings = entry.d_un.d_ptr;
		if (entry.d_tag == DT_SONAME)
			name = entry.d_un.d_val;
	}
	if (!strings || name == UINT64_MAX)
		return false;
	/* The dynamic linker of glibc makes it an address, that of musl does not. */
	if (strings < image->base)
		strings += image->base;
	return !elf_image__fetch(&image->memory, strings + name, found, length) &&
	       !memcmp(found, soname, length);
}
