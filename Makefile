# SPDX-License-Identifier: GPL-2.0-only
#
# One non-recursive build. The build.mk of each room lists its parts:
#
#   programs += NAME            .output/bin/NAME, from
#   NAME_sources := ...           these C files,
#   NAME_libraries := ...         the project's own libraries,
#   NAME_packages := ...          libraries that pkg-config and configure know,
#   NAME_skeletons := X           bpf/X.bpf.c, as "X.skel.h"
#   libraries += NAME           .output/lib/libNAME.a, from NAME_sources
#   NAME_abi := N                 .output/lib/libNAME.so.N as well, which exports
#   NAME_map := FILE              what this version script says
#
# Tests need no build.mk: selftests/unit/ROOM/NAME.c is linked with the libraries,
# and both with sanitizers, as .output/unit/NAME; unit_NAME_sources adds files to such a test, which can
# also have unit_NAME_skeletons.  Those in threaded_tests are also linked with
# ThreadSanitizer, as .output/tsan/NAME.
# selftests/{module,storm,agent,pair,debug}/NAME.c, a test in a guest, and
# selftests/helpers/NAME.c, a program that such tests call, are linked with
# selftests/lib and the libraries; DIRECTORY/NAME_skeletons as for programs.  selftests/fuzz/NAME.c, a harness, is linked with
# the libraries and fuzz_NAME_sources.

version := 0.1
output := .output
KVER ?= 6.12
guest_kernel := $(output)/kernel/$(KVER)

ifneq ($(V),1)
quiet := @
say = @printf '  %-8s%s\n' $(1) $(2);
endif

default: all
.PHONY: default
.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

define help
  make                  programs, eBPF objects and the module
  make demo             a controller reads a host, a switch reports to a store,
                        a table of a million flows is looked up; at last Chromium
                        shows them in the page: .output/demo/page.png;
                        P4=1: a P4 switch reports, another one does NAT by that
                        table
                        (run as root on a fresh Debian: installs its packages)
  make check            all tests; TESTS="unit pair/foo" picks some
  make check-debug      the tests of the kernel parts in a kernel with KASAN,
                        lockdep, kmemleak and more (builds it, once: 15 min)
  make check-long       tests that take minutes each, between two virtual machines
  make check-churn      containers come and go for a minute while they are read
  make check-packaged   tests of the agent with the installed service, in its sandbox
  make check-crashes    dartd is killed 200 times (30 min)
  make check-farm       a controller scrapes 1,024 hosts, with each kind of I/O
  make check-power      a machine is killed three times while its controller spools
  make check-receivers  Prometheus, VictoriaMetrics and InfluxDB get metrics, are
                        killed meanwhile, and are asked for all (10 min);
                        PROMETHEUS3=PATH adds one that takes remote write 2.0
  make check-fleet      the same receivers get the samples of 1,000 invented hosts for
                        10 minutes, every fifth of which is wrong in some way, and
                        are asked for all
  make check-helgrind   the threaded unit tests under helgrind of valgrind
  make check-documented the commands in README.md, Documentation/install and the
                        EXAMPLES of manual pages, also a part of make check
  make check-page       the page of the controller in Chromium; PICTURES=DIR keeps
                        screenshots
  make fuzz             libFuzzer gives all parsers of foreign bytes random ones,
                        each for TIME seconds (60), two at a time
  make bench            measurements beside bare verbs, perftest, node-exporter;
                        cost of the probes; 40 containers; gathering beside open
                        files; wake-ups of an idle host; the threads of the
                        controller; its outputs; READs beside calls; stores
                        and reports beside memory; the load of lookup tables; the
                        figures of the DART paper, and those of the TEA paper in
                        simple_switch
  make p4               the programs of P4 switches, if a P4 compiler is installed
  make module           dart_zero.ko only
  make install          everything, for the running kernel or for KDIR
  make programs_install everything but the module, as a controller needs
  make modules_install  the module only
  make packages         install the Debian packages of packages.txt, or only
                        those of sections="build run"
  make deb              Debian packages of this version, in .output/deb
  make check-deb        they are installed, upgraded, removed and purged in a machine
                        made by debootstrap, as root (20 min without KVM)
  make lint             rooms, shellcheck, W=1, sparse; with KSRC=DIR, a kernel's
                        source, checkpatch and coccicheck as well
  make clean            remove .output except fetched kernels
  make distclean        remove all of .output

  V=1                   show the commands
  KVER=6.12             the stock Debian kernel of the guests, fetched on demand
  KDIR=DIR              build the module for the kernel with this build directory
                        (default: the running kernel's, or else the guests')
  DESTDIR= PREFIX=      where to install (/usr/local)
endef

help:
	@: $(info $(help))

clean:
	rm -rf $(filter-out $(output)/kernel,$(wildcard $(output)/*))

distclean:
	rm -rf $(output)

# The targets that a newcomer types first install the packages, then build.
sections := build run test bench lint
demo check check-documented check-long check-churn check-packaged check-crashes check-farm check-power check-receivers check-fleet: sections := build run test
check-debug: sections := build run test debug
bench: sections := build run test bench
deb: sections := build deb
check-deb: sections := build run test deb

# Its end is left out where there is no Chromium.
demo: $(if $(P4),p4_is_there) packages
	+$(quiet)[ "$$(id -u)" != 0 ] || \
		$(MAKE) --no-print-directory packages sections=page || \
		echo "make: chromium cannot be installed: the demonstration ends without the page" >&2
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest $(if $(P4),p4)
	$(quiet)selftests/demo/run $(if $(P4),p4)

p4_is_there:
	$(quiet)! why=$$(selftests/p4_missing) || { echo "make: $$why" >&2; exit 1; }

# The tests of the P4 program run if its compiler is installed.
check: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest tests \
		$(if $(shell command -v p4c-bm2-ss),p4)
	$(quiet)selftests/run $(TESTS)

# Only the module is built again: everything else is shared with make check. Of the
# agent's tests only those that test the kernel and start few programs: such a
# kernel takes seconds to start one. Two storms with different seeds, because a
# virtual machine uses one processor; the longest tests come first.
debug_tests := rounds slices probes drops rows_come_free oom_events
check-debug: packages
	+$(quiet)start=$$(date +%s) && \
	$(MAKE) --no-print-directory KDIR= guest tests && \
	selftests/qemu/kernel $(KVER)-debug > /dev/null && \
	$(MAKE) --no-print-directory KDIR= KVER=$(KVER)-debug module_of_guest && \
	built=$$(date +%s) && status=0 && \
	{ KVER=$(KVER)-debug selftests/run \
		$(or $(TESTS),storm storm $(debug_tests:%=agent/%) module debug churn) || \
		status=$$?; } && \
	echo "built in $$((built - start)) s," \
		"tested in $$(($$(date +%s) - built)) s" && exit $$status

check-long: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest tests
	$(quiet)selftests/run long

check-documented: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest tests
	$(quiet)selftests/run unit/documented agent/documented

check-churn: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest tests
	$(quiet)selftests/run churn

check-packaged: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest tests
	$(quiet)selftests/run packaged

check-crashes: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest tests
	$(quiet)selftests/run crashes

check-farm: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest tests
	$(quiet)selftests/run farm

check-power: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest tests
	$(quiet)selftests/run power

# It needs one receiver at least; none is installed here, because their services start.
check-receivers: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest tests
	$(quiet)PROMETHEUS3=$(PROMETHEUS3) selftests/run receivers

# Here, without virtual machines; it needs one receiver at least, too.
check-fleet: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= programs \
		$(output)/selftests/helpers/fleet_hosts $(output)/selftests/helpers/tls_files
	$(quiet)PROMETHEUS3=$(PROMETHEUS3) selftests/run fleet

check-helgrind: sections := build run test helgrind
check-helgrind: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= helgrind_tests
	$(quiet)selftests/helgrind/run

check-page: sections := build run page
check-page: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= $(output)/bin/web_hosts $(output)/share/dart/schemas
	$(quiet)selftests/page/check $(PICTURES)

fuzz: sections := build run test fuzz
fuzz: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= run_fuzzers

bench: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest \
		$(if $(shell command -v p4c-bm2-ss),p4)
	$(quiet)tools/bench/run
	$(quiet)tools/bench/probes
	$(quiet)tools/bench/containers
	$(quiet)tools/bench/gathering
	$(quiet)tools/bench/cgroups
	$(quiet)tools/bench/growth
	$(quiet)tools/bench/idle
	$(quiet)tools/bench/whole_host
	$(quiet)tools/bench/transports
	$(quiet)tools/bench/store
	$(quiet)tools/bench/tea_load
	$(quiet)tools/bench/tea_import
	$(quiet)tools/bench/simulate
	$(quiet)tools/bench/scale
	$(quiet)tools/bench/scrapes
	$(quiet)tools/bench/outputs
	$(quiet)tools/bench/readers
	$(quiet)tools/bench/xdp_reporter
	$(quiet)tools/bench/writes
	$(quiet)tools/bench/tea_figures

# Asks apt only for packages that dpkg does not know; then configure runs again.
packages:
	$(quiet)wanted=$$(for section in $(sections); do \
		sed -n "/^# $$section:/,/^\$$/s/^[a-z]/&/p" packages.txt; done); \
	present=" $$(dpkg-query -W -f '$${db:Status-Status} $${Package}\n' \
		$$wanted 2> /dev/null | sed -n 's/^installed //p' | tr '\n' ' ')"; \
	missing=$$(for package in $$wanted; do \
		case $$present in *" $$package "*) ;; *) echo $$package ;; esac; \
		done | tr '\n' ' '); \
	install="apt-get install --yes --no-install-recommends $$missing"; \
	if [ -z "$$missing" ]; then \
		:; \
	elif [ "$$(id -u)" = 0 ]; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive $$install && \
		rm -f $(output)/config.mk; \
	else \
		echo "make: packages are missing; install them as root with" >&2; \
		echo "  apt-get update && $$install" >&2; \
		exit 1; \
	fi

# Not those of make programs: packages are built as Debian does, from a copy.
deb: packages
	+$(quiet)$(MAKE) --no-print-directory packages_build

check-deb: packages
	+$(quiet)$(MAKE) --no-print-directory KDIR= guest packages_build packages_before
	$(quiet)selftests/run packages

.PHONY: help clean distclean demo check check-debug check-documented check-long check-churn check-packaged check-crashes check-farm check-power check-receivers check-fleet check-helgrind check-page fuzz bench packages p4_is_there deb check-deb
export KVER

# The goals above need nothing below, and must work if it is missing.
above := help clean distclean demo check check-debug check-documented check-long check-churn check-packaged check-crashes check-farm check-power check-receivers check-fleet check-helgrind check-page fuzz bench packages deb check-deb
ifneq ($(filter-out $(above),$(or $(MAKECMDGOALS),all)),)

include $(output)/config.mk
$(output)/config.mk: configure
	$(quiet)./configure

# The running kernel, if its headers are there.
ifeq ($(origin KDIR),undefined)
KDIR := $(shell printf '%s\n' 6.2 $$(uname -r) | sort -V -C && \
	ls -d /lib/modules/$$(uname -r)/build 2> /dev/null)
endif
kernel_headers := $(abspath $(or $(KDIR),$(guest_kernel)/headers))

include $(wildcard */build.mk selftests/*/build.mk tools/*/build.mk tools/lib/*/build.mk)

all: programs shared module

packages_known := $(sort cmocka $(foreach name,$(programs) $(libraries),\
	$($(name)_packages)))
CFLAGS ?= -O2 -g
flags := -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror \
	-Wmissing-prototypes -Wstrict-prototypes -D_GNU_SOURCE \
	-DDART_VERSION='"$(version)"' -I. -Iuapi -Itools/lib/include -I$(output)/bpf \
	$(sort $(foreach package,$(packages_known),$($(package)_cflags)))
sanitize := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all

# ---- objects, libraries, programs

$(output)/obj/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(flags) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(output)/pic/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC-PIC,$<)$(CC) $(flags) -fPIC $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(output)/sanitized/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC-ASAN,$<)$(CC) $(flags) $(sanitize) -MMD -MP -c -o $@ $<

# objects DIRECTORY, SOURCES
objects = $(patsubst %.c,$(output)/$(1)/%.o,$(2))

define library
$(output)/lib/lib$(1).a: $(call objects,obj,$($(1)_sources))
$(output)/sanitized/lib$(1).a: $(call objects,sanitized,$($(1)_sources))
endef
$(foreach name,$(libraries),$(eval $(call library,$(name))))

%.a:
	$(quiet)mkdir -p $(@D)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

# Linker flags of a program with these packages and libraries.
link = -Wl,--as-needed -lm $(foreach package,\
	$(sort $(1) $(foreach name,$(2),$($(name)_packages))),\
	$(or $($(package)_libs),$(error no library $(package): see ./configure)))

# The shared library is for programs of others: it exports the interface that manual
# pages describe. Programs of the project are linked with the static one, because
# they also use what may change with each version.
shared = $(output)/lib/lib$(1).so.$($(1)_abi)
shared_libraries = $(foreach name,$(libraries),$(if $($(name)_abi),$(call shared,$(name))))

define shared_library
$(call shared,$(1)): $(call objects,pic,$($(1)_sources)) $($(1)_map)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,LD-SO,$$@)$$(CC) -shared $$(CFLAGS) $$(LDFLAGS) -Wl,-z,defs \
		-Wl,-soname,$$(@F) -Wl,--version-script=$($(1)_map) -o $$@ \
		$$(filter %.o,$$^) $$(call link,,$(1))
	$$(quiet)ln -sf $$(@F) $$(basename $$@)
endef
$(foreach name,$(libraries),$(if $($(name)_abi),$(eval $(call shared_library,$(name)))))

define program
$(output)/bin/$(1): $(call objects,obj,$($(1)_sources)) \
		$($(1)_libraries:%=$(output)/lib/lib%.a)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,LD,$$@)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ \
		$$(call link,$($(1)_packages),$($(1)_libraries))
$(call objects,obj,$($(1)_sources)): | $($(1)_skeletons:%=$(output)/bpf/%.skel.h)
endef
$(foreach name,$(programs),$(eval $(call program,$(name))))

# Schemas lie beside the programs, as after installation.
$(output)/share/dart/schemas:
	$(quiet)mkdir -p $(@D) && ln -sfn ../../../schemas $@

programs: $(programs:%=$(output)/bin/%) $(output)/share/dart/schemas

shared: $(shared_libraries)

# ---- tests

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
$(call objects,sanitized,$(call unit_source,$(1))): | $(unit_$(1)_skeletons:%=$(output)/bpf/%.skel.h)
endef
$(foreach name,$(unit_tests),$(eval $(call unit_test,$(name))))

# Those of threaded parts once more, with ThreadSanitizer, for unit/threads.
# It knows no fences: no test has two threads that need one.
tsan := -O1 -g -fsanitize=thread -Wno-tsan

$(output)/tsan/obj/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC-TSAN,$<)$(CC) $(flags) $(tsan) -MMD -MP -c -o $@ $<

$(output)/tsan/libdart.a: $(call objects,tsan/obj,$(dart_sources))

# And for helgrind, which must be told of atomic objects.
helgrind := -O1 -g -include selftests/helgrind/atomics.h

$(output)/helgrind/obj/%.o: %.c
	$(quiet)mkdir -p $(@D)
	$(call say,CC-HG,$<)$(CC) $(flags) $(helgrind) -MMD -MP -c -o $@ $<

$(output)/helgrind/libdart.a: $(call objects,helgrind/obj,$(dart_sources))

$(output)/helgrind/races: $(output)/helgrind/obj/selftests/helgrind/races.o
	$(call say,LD-HG,$@)$(CC) -o $@ $^

define helgrind_test
$(output)/helgrind/$(1): $(call objects,helgrind/obj,$(call unit_source,$(1)) \
		$(unit_$(1)_sources)) $(output)/helgrind/libdart.a
	$$(call say,LD-HG,$$@)$$(CC) -o $$@ $$^ $$(call link,$(packages_known))
endef
$(foreach name,$(threaded_tests),$(eval $(call helgrind_test,$(name))))

helgrind_tests: $(threaded_tests:%=$(output)/helgrind/%) $(output)/helgrind/races

define threaded_test
$(output)/tsan/$(1): $(call objects,tsan/obj,$(call unit_source,$(1)) \
		$(unit_$(1)_sources)) $(output)/tsan/libdart.a
	$$(call say,LD-TSAN,$$@)$$(CC) $$(tsan) -o $$@ $$^ \
		$$(call link,$(packages_known))
endef
$(foreach name,$(threaded_tests),$(eval $(call threaded_test,$(name))))

$(output)/lib/libtest.a: $(call objects,obj,$(test_parts))

define guest_test
$(output)/selftests/$(1): $(call objects,obj,selftests/$(1).c) \
		$(output)/lib/libtest.a $(libraries:%=$(output)/lib/lib%.a)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,LD,$$@)$$(CC) $$(CFLAGS) -o $$@ $$^ \
		$$(call link,$(packages_known))
$(call objects,obj,selftests/$(1).c): | $($(1)_skeletons:%=$(output)/bpf/%.skel.h)
endef
$(foreach name,$(guest_tests),$(eval $(call guest_test,$(name))))

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

tests: $(unit_tests:%=$(output)/unit/%) \
	$(threaded_tests:%=$(output)/tsan/%) $(guest_tests:%=$(output)/selftests/%) \
	$(harnesses:%=$(output)/fuzz/replay/%) \
	$(output)/selftests/sample/dart_sample.bpf.o staged

# The files of make programs_install, which tests of the service copy into guests.
staged: programs
	$(quiet)rm -rf $(output)/staged
	+$(quiet)$(MAKE) --no-print-directory programs_install \
		DESTDIR=$(abspath $(output))/staged PREFIX=/usr/local

# All programs that guests of make demo, check and bench have in their PATH.
guest: programs module_of_guest $(patsubst %,$(output)/selftests/%,\
	$(filter helpers/%,$(guest_tests)))

# ---- installation

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
install := install -D -m
manuals := $(filter-out LICENSES/%,\
	$(wildcard $(foreach n,1 2 3 4 5 6 7 8,*/*.$(n) tools/*/*.$(n))))
completions := $(wildcard tools/*/*.bash-completion tools/*/*.zsh-completion \
	tools/*/*.fish-completion)
# The headers that the manual pages name in #include lines.
headers := $(patsubst uapi/%,%,$(wildcard uapi/*/*.h)) \
	$(patsubst tools/lib/include/%,%,$(foreach header,\
	$(wildcard tools/lib/include/libdart/*.h tools/lib/include/libdart/*/*.h),\
	$(if $(findstring _internal.h,$(header)),,$(header))))

# to DIRECTORY, FILE, MODE: installs it there under its own name
to = $(quiet)$(install) $(3) $(2) $(DESTDIR)$(1)/$(notdir $(2))

install: programs_install modules_install

programs_install: programs shared
	$(call to,$(PREFIX)/sbin,$(output)/bin/dartd,755)
	$(call to,$(PREFIX)/bin,$(output)/bin/dartctl,755)
	$(call to,$(PREFIX)/bin,$(output)/bin/dart-controller,755)
	$(call to,$(PREFIX)/bin,$(output)/bin/dart-report,755)
	$(call to,$(LIBDIR),$(output)/lib/libdart.a,644)
	$(call to,$(LIBDIR),$(call shared,dart),644)
	$(quiet)ln -sf libdart.so.$(dart_abi) $(DESTDIR)$(LIBDIR)/libdart.so
	$(quiet)mkdir -p $(DESTDIR)$(LIBDIR)/pkgconfig
	$(quiet)sed -e 's,@PREFIX@,$(PREFIX),g' -e 's,@LIBDIR@,$(LIBDIR),g' \
		-e 's,@VERSION@,$(version),g' -e 's,@PACKAGES@,$(filter-out m,$(dart_packages)),g' \
		tools/lib/dart/libdart.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/libdart.pc
	$(call to,$(PREFIX)/include/dart/kernel,kmod/dart_counters.h,644)
	$(call to,$(PREFIX)/include/dart/bpf,bpf/dart_counters.h,644)
	$(quiet)for file in tools/controller/dart-controller.yaml $(wildcard contrib/systemd/*); do \
		$(install) 644 $$file \
			$(DESTDIR)$(PREFIX)/share/doc/dart-zero/examples/$${file##*/} || exit; \
	done
	$(quiet)for file in agent/dartd.yaml $(wildcard tools/controller/etc/*); do \
		to=$(DESTDIR)/etc/dart/$${file##*/}; \
		[ -e $$to ] || $(install) 644 $$file $$to || exit; \
	done
	$(quiet)for header in $(headers); do \
		source=uapi/$$header; \
		[ -e $$source ] || source=tools/lib/include/$$header; \
		$(install) 644 $$source $(DESTDIR)$(PREFIX)/include/$$header || exit; \
	done
	$(quiet)for manual in $(manuals); do \
		$(install) 644 $$manual \
			$(DESTDIR)$(PREFIX)/share/man/man$${manual##*.}/$${manual##*/} || exit; \
	done
	$(quiet)for file in $(completions); do \
		program=$${file##*/}; program=$${program%.*}; \
		case $$file in \
		*.bash-completion) to=bash-completion/completions/$$program ;; \
		*.zsh-completion) to=zsh/site-functions/_$$program ;; \
		*.fish-completion) to=fish/vendor_completions.d/$$program.fish ;; \
		esac; \
		$(install) 644 $$file $(DESTDIR)$(PREFIX)/share/$$to || exit; \
	done
	$(quiet)for schema in $(wildcard schemas/*.yaml schemas/prometheus/*.yaml); do \
		$(install) 644 $$schema \
			$(DESTDIR)$(PREFIX)/share/dart/$$schema || exit; \
	done
	$(quiet)for unit in $(wildcard */*.service tools/*/*.service); do \
		mkdir -p $(DESTDIR)$(PREFIX)/lib/systemd/system; \
		sed 's,@PREFIX@,$(PREFIX),g' $$unit \
			> $(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/} || exit; \
	done
	$(quiet)for file in $(wildcard */*.sysusers tools/*/*.sysusers); do \
		$(install) 644 $$file \
			$(DESTDIR)$(PREFIX)/lib/sysusers.d/$$(basename $$file .sysusers).conf || exit; \
	done

# ---- a reviewer's first questions

# The source of a kernel, for scripts that no Debian package has.
KSRC ?= $(lastword $(wildcard $(abspath $(output))/kernel/*-debug/headers))

# The toolchain of a newer suite's kernel has no sparse.
lint_flags = W=1 $(if $(wildcard $(dir $(kernel_headers))toolchain),,\
	C=2 CHECK=sparse)

lint: programs $(if $(KDIR),,$(guest_kernel)/headers)
	$(quiet)selftests/lint $(KSRC)
	+$(call kbuild,$(kernel_headers),modules $(lint_flags)) \
		> $(output)/lint.log 2>&1 || { cat $(output)/lint.log; exit 1; }
	$(quiet)! grep -E '(warning|error):' $(output)/lint.log
	@echo "lint: kmod with $(lint_flags): no findings"
	$(quiet)selftests/borrowed $(output)/kmod/$$(cat \
		$(kernel_headers)/include/config/kernel.release)/kmod/dart_zero.ko
	@echo "lint: borrowed: no findings"

.PHONY: all programs shared tests helgrind_tests run_fuzzers staged guest module module_of_guest modules_install dkms_install programs_install install lint

objects_known := $(foreach name,$(programs) $(libraries),\
	$(call objects,obj,$($(name)_sources)))
-include $(patsubst %.o,%.d,$(objects_known) \
	$(patsubst $(output)/obj/%,$(output)/pic/%,$(objects_known)) \
	$(patsubst $(output)/obj/%,$(output)/sanitized/%,$(objects_known)) \
	$(call objects,sanitized,$(unit_sources)) \
	$(patsubst $(output)/obj/%,$(output)/fuzz/obj/%,$(objects_known)) \
	$(patsubst $(output)/obj/%,$(output)/tsan/obj/%,$(objects_known)) \
	$(patsubst $(output)/obj/%,$(output)/helgrind/obj/%,$(objects_known)) \
	$(foreach in,helgrind/obj tsan/obj,$(call objects,$(in),$(unit_sources))) \
	$(foreach in,sanitized fuzz/obj,$(call objects,$(in),\
		$(wildcard selftests/fuzz/*.c))) \
	$(guest_tests:%=$(output)/obj/selftests/%.o) \
	$(foreach in,obj sanitized tsan/obj,$(call objects,$(in),$(test_parts)))) \
	$(wildcard $(output)/bpf/*.d $(output)/selftests/sample/*.d)

endif
