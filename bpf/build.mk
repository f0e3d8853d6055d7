# SPDX-License-Identifier: GPL-2.0-only
# eBPF programs: X.bpf.c here is "X.skel.h" to the program that loads it. They are
# compiled with the type layouts of one kernel; CO-RE adapts them to the running one.

$(output)/bpf/vmlinux.h: $(or $(wildcard $(KDIR)/vmlinux),\
		$(if $(KDIR),$(wildcard /sys/kernel/btf/vmlinux)),\
		$(guest_kernel)/headers/vmlinux)
	$(quiet)mkdir -p $(@D)
	$(call say,BTF,$@)$(BPFTOOL) btf dump file $< format c > $@

# As libbpf names the architecture.
bpf_target := $(if $(findstring aarch64,$(shell $(CC) -dumpmachine)),arm64,x86)

# Newer kernels have unnamed members of named structs (-fms-extensions). Bytes of
# frames are read as numbers of several widths, as everywhere in the kernel.  Linked by bpftool, a
# program has no debug information but BTF: 10 KB instead of 800 in the program that contains it.
compile_bpf = $(call say,BPF,$<)$(CLANG) -g -O2 -mcpu=v3 -Wall -Werror -target bpf \
	-fno-strict-aliasing -fms-extensions -Wno-microsoft-anon-tag \
	-D__TARGET_ARCH_$(bpf_target) -iquote . -Iuapi -I$(output)/bpf $(bpf_included) \
	-MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@.unlinked $< && \
	$(BPFTOOL) gen object $@ $@.unlinked && rm $@.unlinked

$(output)/bpf/%.bpf.o: bpf/%.bpf.c $(output)/bpf/vmlinux.h
	$(compile_bpf)

# For unit/rows_ordered: programs that write rows, as for a processor that reorders stores.
ordered := $(patsubst %,$(output)/bpf/ordered/%.bpf.o,cgroupnet tcpconn)
$(ordered): bpf_target := arm64
$(ordered): $(output)/bpf/ordered/%.bpf.o: bpf/%.bpf.c $(output)/bpf/vmlinux.h
	$(quiet)mkdir -p $(@D)
	$(compile_bpf)

# Programs that take samples, and programs that answer the questions of dartd, which contains all of
# them.
embedded = $(patsubst bpf/$(1)/%.bpf.c,%,$(wildcard bpf/$(1)/*.bpf.c))

define embedded_programs
$(output)/bpf/$(1)/%.bpf.o: bpf/$(1)/%.bpf.c $(output)/bpf/vmlinux.h
	$$(quiet)mkdir -p $$(@D)
	$$(compile_bpf)

# The ELF files alone, not the types of their variables, which only they know.  The time of the
# folder tells that a file was removed.
$(output)/bpf/$(1).skel.h: $(patsubst %,$(output)/bpf/$(1)/%.skel.h,$(call embedded,$(1))) bpf/$(1)
	$$(call say,SKEL,$$@)sed -n '/^static.*__elf_bytes(size_t \*sz)$$$$/,/^}/p' \
		$$(filter %.h,$$^) > $$@
endef
$(foreach directory,samples gather,$(eval $(call embedded_programs,$(directory))))

# Sample programs stand for those of users: they include only installed headers.
$(output)/selftests/sample/%.bpf.o: bpf_included := -Ibpf
$(output)/selftests/sample/%.bpf.o: selftests/sample/%.bpf.c $(output)/bpf/vmlinux.h
	$(quiet)mkdir -p $(@D)
	$(compile_bpf)

$(output)/bpf/%.skel.h: $(output)/bpf/%.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< > $@

.SECONDARY:
