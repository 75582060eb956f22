# coalign - build, test, install. `make help` lists the targets.

# ---- what a user may set ---------------------------------------------------------------------------------------------
PREFIX  = /usr/local
DESTDIR =
CONFIG  = release
OPTFLAGS = -O2 -g
JOBS    := $(shell nproc 2>/dev/null || echo 2)
V       = 0

VERSION = 0.1.0
DATADIR = $(PREFIX)/share/coalign

# ---- flags -----------------------------------------------------------------------------------------------------------
WARNINGS = -Wall \
           -Wextra \
           -Wconversion \
           -Wshadow \
           -Wstrict-prototypes \
           -Wmissing-prototypes \
           -Wvla \
           -Werror
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

# Asked for at the first compilation, not when this file is read: `make deps all` may be what installs pkg-config.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags libconfig jansson libarchive))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs libconfig jansson libarchive))$(PKG_LIBS)

# EXTRA comes last on both command lines: a place for one's own flags.
EXTRA =
CPPFLAGS = -D_XOPEN_SOURCE=700 -DCOALIGN_DATADIR='"$(DATADIR)"' -Isrc
CFLAGS   = -std=c11 $(OPTFLAGS) -fopenmp $(WARNINGS)
LDLIBS   = $(PKG_LIBS) -lcsv -lm

# ---- files -----------------------------------------------------------------------------------------------------------
BUILD = build/$(CONFIG)
# ./coalign is the release program; the other configurations keep theirs in their build folder.
PROGRAM = $(if $(filter release,$(CONFIG)),coalign,$(BUILD)/coalign)

SOURCES := $(sort $(wildcard src/*/*.c))
MAIN     = src/cmd/main.c
OBJECTS  = $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(MAIN),$(SOURCES)))
LIBRARY  = $(BUILD)/libcoalign.a

TEST_SOURCES := $(sort $(wildcard tests/*/*.c))
TEST_OBJECTS  = $(patsubst %.c,$(BUILD)/%.o,$(TEST_SOURCES))
TEST_ROOMS   := $(sort $(notdir $(patsubst %/,%,$(dir $(TEST_SOURCES)))))
TEST_BINARIES = $(TEST_ROOMS:%=$(BUILD)/tests/%/run)
TEST_SCRIPTS := $(sort $(wildcard tests/*/*.sh))

# ---- manners ---------------------------------------------------------------------------------------------------------
# All cores unless make was told otherwise (its own -j wins over this one).
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all

ifeq ($(V),0)
Q = @
say = @printf '  %-7s %s\n' '$(1)' '$(2)'
else
Q =
say = @:
endif

# `make deps all` on several jobs: whatever needs a compiler waits for deps, when deps was asked for.
AFTER_DEPS = $(filter deps deps-check,$(MAKECMDGOALS))

.PHONY: all deps deps-check demo test check check-sanitize check-tidy check-cppcheck check-format bench install \
        uninstall clean format help FORCE

all: $(PROGRAM)

# ---- compiling -------------------------------------------------------------------------------------------------------
# A changed flag or version rebuilds what depends on it: these stamps are only touched when their text changes.
$(BUILD)/flags: FORCE | $(AFTER_DEPS)
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(subst ','\'',$(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) $(EXTRA))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/version: FORCE
	@mkdir -p $(@D)
	@hash=$$(git rev-parse --short=10 HEAD 2>/dev/null) && hash=" ($$hash)"; \
	 printf '#define COALIGN_VERSION "%s%s"\n' '$(VERSION)' "$$hash" >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

FORCE:

$(BUILD)/%.o: %.c $(BUILD)/flags | $(AFTER_DEPS)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<

$(BUILD)/src/cmd/version.o: CPPFLAGS += -include $(BUILD)/version
$(BUILD)/src/cmd/version.o: $(BUILD)/version

$(LIBRARY): $(OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(OBJECTS)

$(PROGRAM): $(BUILD)/$(MAIN:.c=.o) $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXTRA) -o $@ $< $(LIBRARY) $(LDLIBS)

# One test program a room, from all of tests/<room>/*.c.
define test_program
$(BUILD)/tests/$(1)/run: $(patsubst %.c,$(BUILD)/%.o,$(filter tests/$(1)/%,$(TEST_SOURCES))) $(LIBRARY)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(EXTRA) -o $$@ $$(filter %.o,$$^) $$(LIBRARY) $$(LDLIBS) -lcriterion
endef
$(foreach room,$(TEST_ROOMS),$(eval $(call test_program,$(room))))

-include $(wildcard $(BUILD)/src/*/*.d $(BUILD)/tests/*.d $(BUILD)/tests/*/*.d)

# ---- running ---------------------------------------------------------------------------------------------------------
test: $(PROGRAM) $(TEST_BINARIES)
	$(Q)COALIGN='$(abspath $(PROGRAM))' bash tests/run.sh -j$(JOBS) $(TEST_BINARIES) $(TEST_SCRIPTS)

# Two of the config's eight pairs of copies, to be quick: some 35 s on two free cores.
DEMO = build/demo/futhark_copy
DEMO_CASES = --case '[16777216][4]' --case '[1048576]'
demo: $(PROGRAM)
	@mkdir -p $(dir $(DEMO))
	$(Q)./$(PROGRAM) run configs/futhark_copy.cfg $(DEMO_CASES) -o - -o $(DEMO).csv
	$(Q)gnuplot -e "data='$(DEMO).csv'; output='$(DEMO)'" plots/measured_vs_simulated.gp
	@printf '\n%s\n' 'Written: $(DEMO).csv, $(DEMO).png, $(DEMO).svg'

# What a reviewer would try: the tests under two compilers with sanitizers, then static analysis. Tools that are not
# installed are named and skipped; `make deps-check` installs them.
check: check-sanitize check-tidy check-cppcheck

need = command -v $(1) >/dev/null || { echo 'skipped: $(1) is not installed (make deps-check)'; exit 0; };

check-sanitize:
	$(Q)$(MAKE) CONFIG=sanitize-gcc CC=gcc OPTFLAGS='$(SANITIZE)' test
	$(Q)$(call need,clang) $(MAKE) CONFIG=sanitize-clang CC=clang OPTFLAGS='$(SANITIZE)' test

check-tidy: | check-sanitize
	$(call say,TIDY,src)
	$(Q)$(call need,clang-tidy) printf '%s\n' $(SOURCES) | xargs -P$(JOBS) -I{} \
	    clang-tidy --quiet {} -- -std=c11 -fopenmp $(CPPFLAGS) -DCOALIGN_VERSION='""' 2>/dev/null

check-cppcheck: | check-sanitize
	$(call say,CPPCHK,src)
	$(Q)$(call need,cppcheck) cppcheck --quiet --error-exitcode=1 -j$(JOBS) --std=c11 --inline-suppr \
	    --enable=warning,performance,portability --suppress=missingIncludeSystem --suppress=ctuuninitvar \
	    $(CPPFLAGS) '-DCOALIGN_VERSION=""' src

check-format:
	$(Q)clang-format --dry-run -Werror $(wildcard src/*/*.[ch] tests/*/*.[ch])

format:
	$(Q)clang-format -i $(wildcard src/*/*.[ch] tests/*/*.[ch])

# Host time and peak memory of the two simulations that users wait for, the best and the worst case of the demo; and the
# speed of cache-only replay.
BENCH = $(BUILD)/tests/bench_counts
$(BENCH): $(BUILD)/tests/bench_counts.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(EXTRA) -o $@ $< $(LIBRARY) $(LDLIBS)

bench: $(PROGRAM) $(BENCH)
	$(Q)$(BENCH)
	$(Q)bash tests/bench.sh ./$(PROGRAM)

# ---- installing ------------------------------------------------------------------------------------------------------
MODELS = $(shell find models -type f)
MANDIR  = $(PREFIX)/share/man/man1
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR  = $(PREFIX)/share/zsh/site-functions
HELP    = $(BUILD)/help
install: $(PROGRAM)
	@mkdir -p $(HELP)
	$(Q)for form in man bash zsh; do ./$(PROGRAM) help --as $$form >$(HELP)/$$form || exit 1; done
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/coalign
	install -D -m 644 $(HELP)/man $(DESTDIR)$(MANDIR)/coalign.1
	install -D -m 644 $(HELP)/bash $(DESTDIR)$(BASHDIR)/coalign
	install -D -m 644 $(HELP)/zsh $(DESTDIR)$(ZSHDIR)/_coalign
	$(Q)for file in $(MODELS) $(shell find configs -name '*.cfg') $(wildcard plots/*.gp); do \
	    install -D -m 644 $$file $(DESTDIR)$(DATADIR)/$$file || exit 1; done

uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/bin/coalign $(DESTDIR)$(DATADIR) $(DESTDIR)$(MANDIR)/coalign.1 \
	    $(DESTDIR)$(BASHDIR)/coalign $(DESTDIR)$(ZSHDIR)/_coalign

APT = $(if $(filter 0,$(shell id -u)),,sudo) env DEBIAN_FRONTEND=noninteractive apt-get
deps:
	$(APT) update -qq
	$(APT) install -qq -y --no-install-recommends gcc libc6-dev make pkg-config libconfig-dev libjansson-dev \
	    libarchive-dev libcsv-dev libcriterion-dev gnuplot-nox

deps-check: | $(filter deps,$(MAKECMDGOALS))
	$(APT) update -qq
	$(APT) install -qq -y --no-install-recommends clang libomp-dev clang-tidy clang-format cppcheck

clean:
	rm -rf build coalign

help:
	@printf '  %-15s %s\n' \
	  'make'         'build ./coalign (CONFIG=release; flags: OPTFLAGS, EXTRA; V=1 shows the commands)' \
	  'make deps'    'install what building, testing and plotting need (Debian packages; root or sudo)' \
	  'make demo'    'simulate 4 array copies, print the table, plot measured against simulated (a minute)' \
	  'make test'    'run every test' \
	  'make check'   'tests under ASan and UBSan with gcc and clang, then clang-tidy and cppcheck' \
	  'make deps-check' 'install the tools that check uses' \
	  'make bench'   'speed of cache-only replay, host time and memory of typical simulations' \
	  'make install' 'install to PREFIX (/usr/local), below DESTDIR if set; make uninstall removes it' \
	  'make format'  'clang-format all sources; make check-format only looks' \
	  'make clean'   'remove what was built'
