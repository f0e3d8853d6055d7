// SPDX-License-Identifier: GPL-2.0-only
/* Reads ELF files by libelf: see binary.h. */
#include "binary.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a function that returns a variable, on x86-64, with endbr64. */
#define GETTER_MAX 12

static int refuse(const struct binary *binary, struct dart_error *error, const char *why)
{
	return dart_error__set(error, EINVAL, "'%s' %s", binary->path, why);
}

/* ---- the file */

static int check_header(struct binary *binary, struct dart_error *error)
{
	GElf_Ehdr header;

	if (elf_kind(binary->elf) != ELF_K_ELF || !gelf_getehdr(binary->elf, &header))
		return refuse(binary, error, "is not an ELF file");
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return refuse(binary, error, "is not of a 64-bit, little-endian machine");
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return refuse(binary, error, "is neither an executable nor a shared object");
	binary->machine = header.e_machine;
	return 0;
}

static int read_build_id(struct binary *binary, struct dart_error *error)
{
	const void *bytes;
	const ssize_t length = dwelf_elf_gnu_build_id(binary->elf, &bytes);

	if (length <= 0)
		return refuse(
			binary, error,
			"has no build-id, by which a layout is bound to it (link with -Wl,--build-id)");
	if (length > DART_APPLICATION_BUILD_ID_MAX)
		return refuse(binary, error, "has a build-id of more than 32 bytes");
	binary->build_id.length = length;
	memcpy(binary->build_id.bytes, bytes, length);
	return 0;
}

static Elf_Scn *section_of_type(const struct binary *binary, uint32_t type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(binary->elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

static const char *soname_of(const struct binary *binary)
{
	GElf_Shdr header;
	Elf_Scn *section = section_of_type(binary, SHT_DYNAMIC, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Dyn entry;
	int i;

	for (i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (entry.d_tag == DT_SONAME)
			return elf_strptr(binary->elf, header.sh_link, entry.d_un.d_val);
	return NULL;
}

int binary__open(struct binary *binary, const char *path, struct dart_error *error)
{
	int ret;

	*binary = (struct binary){ .path = path };
	elf_version(EV_CURRENT);
	binary->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (binary->fd < 0)
		return dart_error__system(error, errno, "cannot open '%s'", path);
	binary->elf = elf_begin(binary->fd, ELF_C_READ_MMAP, NULL);
	ret = check_header(binary, error);
	if (!ret)
		ret = read_build_id(binary, error);
	if (ret)
		binary__close(binary);
	else
		binary->soname = soname_of(binary);
	return ret;
}

void binary__close(struct binary *binary)
{
	elf_end(binary->elf);
	close(binary->fd);
}

/* ---- symbols */

static bool find_symbol(const struct binary *binary, uint32_t type, const char *name,
			GElf_Sym *symbol)
{
	GElf_Shdr header;
	Elf_Scn *section = section_of_type(binary, type, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const char *own;
	int i;

	for (i = 0; data && gelf_getsym(data, i, symbol); i++) {
		own = elf_strptr(binary->elf, header.sh_link, symbol->st_name);
		if (symbol->st_shndx != SHN_UNDEF && own && !strcmp(own, name))
			return true;
	}
	return false;
}

static bool find(const struct binary *binary, const char *name, GElf_Sym *symbol)
{
	return find_symbol(binary, SHT_SYMTAB, name, symbol) ||
	       find_symbol(binary, SHT_DYNSYM, name, symbol);
}

int binary__find(const struct binary *binary, const char *name, uint64_t *address, uint64_t *size)
{
	GElf_Sym symbol;

	if (!find(binary, name, &symbol))
		return -ENOENT;
	if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
		return -EOPNOTSUPP;
	*address = symbol.st_value;
	*size = symbol.st_size;
	return 0;
}

/* ---- variables that a function returns */

/* The bytes at @address, as the file has them.  Returns their number, @most at most. */
static size_t read_at(const struct binary *binary, uint64_t address, uint8_t *bytes, size_t most)
{
	GElf_Phdr header;
	ssize_t length;
	size_t count, i;

	if (elf_getphdrnum(binary->elf, &count))
		return 0;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(binary->elf, i, &header) || header.p_type != PT_LOAD ||
		    address < header.p_vaddr || address - header.p_vaddr >= header.p_filesz)
			continue;
		address -= header.p_vaddr;
		if (most > header.p_filesz - address)
			most = header.p_filesz - address;
		length = pread(binary->fd, bytes, most, header.p_offset + address);
		return length < 0 ? 0 : length;
	}
	return 0;
}

/* Decodes the function at @address.  False if it does anything else. */
static bool decode(const uint8_t *code, size_t length, uint64_t address, uint64_t *variable,
		   uint64_t *size)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t move_8[] = { 0x48, 0x8b, 0x05 }, move_4[] = { 0x8b, 0x05 };
	const uint8_t *move = move_4;
	size_t at = 0, move_length = sizeof(move_4);
	int32_t distance;

	if (length >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	*size = sizeof(uint32_t);
	if (length > at && code[at] == move_8[0]) {
		move = move_8;
		move_length = sizeof(move_8);
		*size = sizeof(uint64_t);
	}
	if (length < at + move_length + sizeof(distance) + 1 ||
	    memcmp(code + at, move, move_length) ||
	    code[at + move_length + sizeof(distance)] != 0xc3)
		return false;
	memcpy(&distance, code + at + move_length, sizeof(distance));
	*variable = address + at + move_length + sizeof(distance) + distance;
	return true;
}

int binary__find_returned(const struct binary *binary, const char *name, uint64_t *address,
			  uint64_t *size, struct dart_error *error)
{
	uint8_t code[GETTER_MAX];
	GElf_Sym symbol;

	if (binary->machine != EM_X86_64)
		return refuse(binary, error,
			      "is not of x86-64: the code of getters is not known (use 'at')");
	if (!find(binary, name, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
		return dart_error__set(error, ENOENT, "'%s' has no function '%s'", binary->path,
				       name);
	if (!decode(code, read_at(binary, symbol.st_value, code, sizeof(code)), symbol.st_value,
		    address, size))
		return dart_error__set(
			error, EINVAL,
			"'%s' of '%s' does more than return one variable (find the address, and use 'at')",
			name, binary->path);
	return 0;
}
