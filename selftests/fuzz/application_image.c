// SPDX-License-Identifier: GPL-2.0-only
/* ELF headers, notes and dynamic sections in the memory of a hostile process. */
#include "agent/application/elf_image.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_application_build_id id = {};
	struct elf_image image;
	int memory, ret;

	memory = open(file_of(data, size), O_RDONLY | O_CLOEXEC);
	require(memory >= 0);
	ret = elf_image__open(&image, memory, 0);
	require(ret <= 0);
	if (!ret) {
		require(image.header_count && image.header_count <= ELF_IMAGE_HEADERS_MAX);
		if (!elf_image__build_id(&image, &id))
			require(id.length && id.length <= DART_APPLICATION_BUILD_ID_MAX);
		elf_image__is_called(&image, "libapp.so.1");
	}
	close(memory);
	return 0;
}
