# SPDX-License-Identifier: GPL-2.0-only
#
# How tests are built.  They need no build.mk:
#
#   selftests/unit/ROOM/NAME.c    .output/unit/NAME, with the libraries, and with sanitizers;
#   unit_NAME_sources := ...        further C files of it,
#   unit_NAME_skeletons := X        bpf/X.bpf.c, as "X.skel.h";
#   threaded_tests += NAME          .output/tsan/NAME and .output/helgrind/NAME, for make
#                                   check-threads
#   selftests/DIRECTORY/NAME.c    .output/selftests/DIRECTORY/NAME, a test in a guest (module,
#                                   storm, agent, pair, debug) or a program that such tests call
#                                   (helpers), with selftests/lib and the libraries;
#   DIRECTORY/NAME_sources        further C files of it
#   DIRECTORY/NAME_skeletons      as for programs
#   selftests/fuzz/NAME.c         a harness, with the libraries and fuzz_NAME_sources

unit_sources := $(shell find selftests/unit -name '*.c')
unit_tests := $(basename $(notdir $(unit_sources)))
unit_source = $(filter %/$(1).c,$(unit_sources))
test_parts := $(wildcard selftests/lib/*.c)
guest_tests := $(patsubst selftests/%.c,%,$(wildcard \
	$(patsubst %,selftests/%/*.c,module storm agent pair debug helpers)))

define unit_test
$(output)/unit/$(1): $(call objects,sanitized,$(call unit_source,$(1)) \
		$(unit_$(1)_sources)) $(libraries:%=$(output)/sanitized/lib%.a)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,LD-ASAN,$$@)$$(CC) $$(sanitize) -o $$@ $$^ \
		$$(call link,$(packages_known))
$(call objects,sanitized,$(call unit_source,$(1)) $(unit_$(1)_sources)): \
		| $(unit_$(1)_skeletons:%=$(output)/bpf/%.skel.h)
endef
$(foreach name,$(unit_tests),$(eval $(call unit_test,$(name))))

# Those of threaded parts once more, with ThreadSanitizer, for make check-threads.
# It knows no fences: no test has two threads that need one.
tsan := -O1 -g1 -fsanitize=thread -Wno-tsan

$(output)/tsan/obj/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC-TSAN,$<)$(CC) $(flags) $(tsan) -MMD -MP -c -o $@ $<

$(output)/tsan/obj/%.o: %.cc
	$(quiet)mkdir -p $(@D)
	$(call say,CXX-TSAN,$<)$(CXX) $(cxx_flags) $(tsan) -MMD -MP -c -o $@ $<

$(output)/tsan/libdart.a: $(call objects,tsan/obj,$(dart_sources))

# And for helgrind, which must be told of atomic objects.
helgrind := -O1 -g -include selftests/threads/atomics.h

$(output)/helgrind/obj/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC-HG,$<)$(CC) $(flags) $(helgrind) -MMD -MP -c -o $@ $<

$(output)/helgrind/obj/%.o: %.cc
	$(quiet)mkdir -p $(@D)
	$(call say,CXX-HG,$<)$(CXX) $(cxx_flags) -O1 -g -MMD -MP -c -o $@ $<

$(output)/helgrind/libdart.a: $(call objects,helgrind/obj,$(dart_sources))

$(output)/helgrind/races: $(output)/helgrind/obj/selftests/threads/races.o
	$(call say,LD-HG,$@)$(CC) -o $@ $^

define helgrind_test
$(output)/helgrind/$(1): $(call objects,helgrind/obj,$(call unit_source,$(1)) \
		$(unit_$(1)_sources)) $(output)/helgrind/libdart.a
	$$(call say,LD-HG,$$@)$$(CC) -o $$@ $$^ $$(call link,$(packages_known))
endef
# valgrind does not know pidfd_open(2), which this one needs.
known_to_valgrind := $(filter-out application_examination,$(threaded_tests))
$(foreach name,$(known_to_valgrind),$(eval $(call helgrind_test,$(name))))

define threaded_test
$(output)/tsan/$(1): $(call objects,tsan/obj,$(call unit_source,$(1)) \
		$(unit_$(1)_sources)) $(output)/tsan/libdart.a
	$$(call say,LD-TSAN,$$@)$$(CC) $$(tsan) -o $$@ $$^ \
		$$(call link,$(packages_known))
endef
$(foreach name,$(threaded_tests),$(eval $(call threaded_test,$(name))))

thread_tests: $(threaded_tests:%=$(output)/tsan/%) \
	$(known_to_valgrind:%=$(output)/helgrind/%) $(output)/helgrind/races

$(output)/lib/libtest.a: $(call objects,obj,$(test_parts))

define guest_test
$(output)/selftests/$(1): $(call objects,obj,selftests/$(1).c $($(1)_sources)) \
		$(output)/lib/libtest.a $(libraries:%=$(output)/lib/lib%.a)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,LD,$$@)$$(CC) $$(CFLAGS) -o $$@ $$^ \
		$$(call link,$(packages_known))
$(call objects,obj,selftests/$(1).c): | $($(1)_skeletons:%=$(output)/bpf/%.skel.h)
endef
$(foreach name,$(guest_tests),$(eval $(call guest_test,$(name))))

# It takes the page of its ELF header away: on arm64 its code would lie there, too.
$(output)/selftests/helpers/held_header: private CFLAGS += -Wl,-z,separate-code

# A harness by itself, replay/NAME, gets the inputs of its corpus (make check); with
# libFuzzer, run/NAME, any inputs (make fuzz).
harnesses := $(patsubst selftests/fuzz/%.c,%,\
	$(filter-out %/replay.c,$(wildcard selftests/fuzz/*.c)))
fuzzer := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fprofile-instr-generate -fcoverage-mapping

# Frames are read at any alignment, as eBPF can.
$(output)/sanitized/selftests/fuzz/telemetry.o: sanitize += -fno-sanitize=alignment
$(output)/fuzz/obj/selftests/fuzz/telemetry.o: fuzzer += -fno-sanitize=alignment

$(output)/fuzz/obj/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC-FUZZ,$<)clang $(flags) -Wno-error $(fuzzer) \
		-fsanitize=fuzzer-no-link -w -MMD -MP -c -o $@ $<

$(output)/fuzz/obj/%.o: %.cc
	$(quiet)mkdir -p $(@D)
	$(call say,CXX-FUZZ,$<)clang++ $(cxx_flags) -Wno-error $(fuzzer) \
		-fsanitize=fuzzer-no-link -w -MMD -MP -c -o $@ $<

$(output)/fuzz/libdart.a: $(call objects,fuzz/obj,$(dart_sources))

define harness
$(output)/fuzz/replay/$(1): $(call objects,sanitized,selftests/fuzz/$(1).c \
		selftests/fuzz/replay.c $(fuzz_$(1)_sources)) \
		$(libraries:%=$(output)/sanitized/lib%.a)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,LD-ASAN,$$@)$$(CC) $$(sanitize) -o $$@ $$^ \
		$$(call link,$(packages_known))
$(output)/fuzz/run/$(1): $(call objects,fuzz/obj,selftests/fuzz/$(1).c \
		$(fuzz_$(1)_sources)) $(output)/fuzz/libdart.a
	$$(quiet)mkdir -p $$(@D)
	$$(call say,LD-FUZZ,$$@)clang $$(fuzzer) -fsanitize=fuzzer -o $$@ $$^ \
		$$(call link,$(packages_known))
endef
$(foreach name,$(harnesses),$(eval $(call harness,$(name))))

TIME ?= 60
run_fuzzers: $(harnesses:%=$(output)/fuzz/run/%)
	$(quiet)selftests/fuzz/run $(TIME) $(foreach name,$(harnesses),\
		"$(name) $(fuzz_$(name)_parsers)")

# All that guests run, and the tests of this machine.
tests_of_guests: $(guest_tests:%=$(output)/selftests/%) \
	$(output)/selftests/sample/dart_sample.bpf.o staged

tests: tests_of_guests $(unit_tests:%=$(output)/unit/%) \
	$(harnesses:%=$(output)/fuzz/replay/%) $(ordered)

# The files of make programs_install, which tests of the service copy into guests.
staged: programs
	$(quiet)rm -rf $(output)/staged
	+$(quiet)$(MAKE) --no-print-directory programs_install \
		DESTDIR=$(abspath $(output))/staged PREFIX=/usr/local

# All programs that guests of make demo, check and bench have in their PATH.
guest: programs module_of_guest $(patsubst %,$(output)/selftests/%,\
	$(filter helpers/%,$(guest_tests)))
