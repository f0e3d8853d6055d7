// SPDX-License-Identifier: GPL-2.0-only
/* ELF headers, notes and dynamic sections in the memory of a hostile process. */
#include <sys/mman.h>

#include "agent/application/elf_image.h"
#include "fuzz.h"

#define PAGE 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_memory memory = { .pid = getpid() };
	struct dart_application_build_id id = {};
	struct elf_image image;
	uint8_t *pages;
	int ret;

	/* The process is this one: after the input follow zeroes, and then no page. */
	pages = mmap(NULL, size + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	require(pages != MAP_FAILED);
	memcpy(pages, data, size);
	require(!munmap(pages + (size + PAGE) / PAGE * PAGE, PAGE));
	memory.file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	require(memory.file >= 0);
	ret = elf_image__open(&image, &memory, (uintptr_t)pages);
	require(ret <= 0);
	if (!ret) {
		require(image.header_count && image.header_count <= ELF_IMAGE_HEADERS_MAX);
		if (!elf_image__build_id(&image, &id))
			require(id.length && id.length <= DART_APPLICATION_BUILD_ID_MAX);
		elf_image__is_called(&image, "libapp.so.1");
	}
	close(memory.file);
	munmap(pages, size + 2 * PAGE);
	return 0;
}
