# Lathe. `make` alone lists the targets.
#
# demo, bench and verify need only Go and make. They run on a GPU, or else on the
# processor. test needs gcc too, because it also tests Vulkan and WebGPU: where no Vulkan
# device is found, it installs the Vulkan loader and lavapipe. None of the targets but
# shaders (and the second half of check) needs a shader compiler.

SHELL := /bin/sh
GO    ?= go
IN    ?=
OUT   ?= out
BENCH ?=

# What `go test` may take in all; a hang ends here.
TIMEOUT ?= 40m

# `make test` has made sure of a device, so a test that finds none fails
# instead of skipping itself. LATHE_REQUIRE_DEVICE= turns that off.
LATHE_REQUIRE_DEVICE ?= 1
export LATHE_REQUIRE_DEVICE

# Of a list of packages, those whose turn it is: every n-th for PART=i/n, and without PART all.
TURN = awk -v part="$(PART)" '{ split(part, p, "/") } part == "" || (NR - p[1]) % p[2] == 0'

# A target with several parts is divided into targets, so that `make -k`, as CI calls it, runs
# every part though one has failed.
.PHONY: test-full-packages test-full-conformance check-shaders check-docs check-code check-api check-gonumblas check-peers check-wgsl check-386 \
	verify-device verify-published browser-node browser-page race-packages race-conformance lint-format lint-vet lint-static lint-tree
.PHONY: help demo test test-full check shaders generate bench bench-peers verify hashes interpreted interpreted-arm emulated browser desktop wine conformance soak fuzz-modules swiftshader swiftshader-full newest-mesa validate race lint build man release docs pictures container-check clean vulkan

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: build ## filter photographs (IN=folder, or some from the module cache) into out/
	$(GO) run ./tools/demo -lathe bin/lathe -in "$(IN)" -out "$(OUT)"

# How much the tests try, quick, full or soak, is LATHE_TEST. See CONTRIBUTING.md.
# go vet is a part of make check, which vets every package and its tests.
# The packages that take longest come first, so that the others run beside them.
test: vulkan ## the tests at the quick level: every operation and backend
	$(GO) test -vet=off -timeout $(TIMEOUT) ./tests/conformance ./tests/graphs ./...

# The quick level runs on the device that is chosen, on most machines cpu. So this one
# runs on Vulkan. The conformance suite runs on every device, whatever is chosen.
test-full: test-full-packages test-full-conformance ## the tests at the full level (PART=i/n: that part of the packages, and the conformance suite)

test-full-packages: vulkan
	LATHE_TEST=full LATHE_BACKEND=vk $(GO) test -timeout $(TIMEOUT) $$($(GO) list ./... | grep -v /conformance$$ | $(TURN))

test-full-conformance: vulkan
	LATHE_TEST=full $(GO) test -timeout $(TIMEOUT) ./conformance ./tests/conformance

check: check-shaders check-docs check-code check-api check-gonumblas check-peers check-wgsl check-386 lint ## shaders, generated files and format are fresh (PART=i/n: recompile that part of the shaders)

check-shaders:
	$(GO) run ./tools/genspirv -check $(if $(PART),-part $(PART))

check-docs:
	$(GO) run ./tools/opsdoc -check

check-code:
	$(GO) run ./tools/genall -check

check-api:
	$(GO) run ./tools/genapi -check

check-gonumblas:
	$(GO) vet -C gonumblas ./...
	$(GO) test -C gonumblas ./...

check-peers:
	$(GO) test -C tests/peers ./...

check-wgsl:
	LATHE_REQUIRE_DEVICE= $(GO) test -C examples/wgsl ./...

# An int has 32 bits there.
check-386:
	CGO_ENABLED=0 GOARCH=386 $(GO) build ./...
	CGO_ENABLED=0 GOARCH=386 $(GO) vet ./backend ./conformance ./graph/... ./tensor ./tests/conformance

shaders: ## compile shaders/ to spirv/ (needs glslc and spirv-opt)
	$(GO) run ./tools/genall
	$(GO) run ./tools/genspirv

bench: build ## how near every operation comes to what the device can do (BENCH=--quick for a first look)
	bin/lathe bench $(BENCH)

bench-peers: vulkan ## the same operations by other Go libraries, in the same run (BENCH=-quick); docs/performance-log.md is made so
	$(GO) run -C tests/peers ./bench $(BENCH)

verify: verify-device verify-published ## every operation against its reference, on this machine's device (PART=i/n: that part of the cases), and the published results on the device cpu

verify-device: build
	bin/lathe verify $(if $(PART),--part $(PART))

verify-published: build
	bin/lathe verify --hash --compare published --device cpu --backend cpu > bin/hashes.txt

hashes: build ## conformance/hashes.txt: the hashes of the results on the device cpu
	bin/lathe verify --hash --device cpu --backend cpu > conformance/hashes.new
	mv conformance/hashes.new conformance/hashes.txt

# Programs of 32 bits interpret kernels.
# Some machines with an amd64 processor run no programs of 32 bits: see interpreted-arm.
interpreted: ## the published results of the device cpu in a program for 386, which runs on amd64: minutes (PART=i/n: a part)
	CGO_ENABLED=0 GOARCH=386 $(GO) test -vet=off ./tensor
	CGO_ENABLED=0 GOARCH=386 $(GO) build -tags nodynamic -o bin/lathe-386 ./cmd/lathe
	bin/lathe-386 verify --hash --no-cache --compare published --device cpu --backend cpu $(if $(PART),--part $(PART)) > bin/hashes-386.txt

interpreted-arm: ## the same in a program for arm, by qemu (Debian): hours (PART=i/n: a part)
	qemu=$$(tools/setup/qemu.sh arm) && \
	CGO_ENABLED=0 GOARCH=arm $(GO) build -tags nodynamic -o bin/lathe-arm ./cmd/lathe && \
	$$qemu bin/lathe-arm verify --hash --no-cache --compare published --device cpu --backend cpu $(if $(PART),--part $(PART)) > bin/hashes-arm.txt

emulated: ## the same in a program for arm64, by qemu (Debian): minutes (PART=i/n: a part)
	qemu=$$(tools/setup/qemu.sh) && \
	CGO_ENABLED=0 GOARCH=arm64 $(GO) build -tags nodynamic -o bin/lathe-arm64 ./cmd/lathe && \
	$$qemu bin/lathe-arm64 verify --hash --no-cache --compare published --device cpu --backend cpu $(if $(PART),--part $(PART)) > bin/hashes-arm64.txt

# Programs in Node cannot start glslc.
browser: browser-node browser-page ## programs for GOOS=js: package cpu in Node, and a page in Chromium (installs both on Debian)

browser-node:
	tools/setup/browser.sh
	LATHE_REQUIRE_TOOLS= GOOS=js GOARCH=wasm $(GO) test -count 1 -timeout $(TIMEOUT) -exec "$$($(GO) env GOROOT)/lib/wasm/go_js_wasm_exec" ./cpu

browser-page:
	tools/setup/browser.sh
	LATHE_REQUIRE_BROWSER=1 $(GO) test -count 1 -timeout $(TIMEOUT) ./examples/browser

desktop: ## the examples that have a window, on an X server without a screen (installs it on Debian; ONLY=Fyne or Ebiten)
	tools/setup/desktop.sh
	LATHE_REQUIRE_TOOLS=1 $(GO) test -C tests/desktop -count 1 -timeout $(TIMEOUT) -run 'Test($(or $(ONLY),Fyne|Ebiten))' .

# The Wine of Debian 12 cannot remove files as Go's RemoveAll does, which TestTuneOptions needs.
# Programs on it cannot start glslc.
wine: ## the command for Windows, and the tests of the root package, on Wine (Debian; installs it and MinGW-w64: 1 GB)
	tools/setup/desktop.sh
	prefix=$$(tools/setup/wine.sh) && export WINEPREFIX="$$prefix" WINEDEBUG=-all && \
	{ status=0; \
	LATHE_REQUIRE_TOOLS=1 $(GO) test -C tests/desktop -count 1 -timeout $(TIMEOUT) -run TestWindows . || status=1; \
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 LATHE_REQUIRE_TOOLS= $(GO) test -count 1 -timeout $(TIMEOUT) -exec wine -skip TestTuneOptions . || status=1; \
	exit $$status; }

conformance: vulkan ## the conformance suite on every device, and docs/conformance.md from it (LATHE_BACKEND=cpu: one column)
	LATHE_TEST=full LATHE_TABLE=$(CURDIR)/docs/conformance.md $(GO) test -count 1 -timeout $(TIMEOUT) -run TestDevices ./tests/conformance

# The soak level of tests/foreign is `make fuzz-modules`.
soak: vulkan ## the tests at the soak level, and the race detector several times over
	LATHE_TEST=soak $(GO) test -timeout 90m $$($(GO) list ./... | grep -v tests/foreign$$)
	LATHE_TEST=full $(GO) test -race -count 3 -timeout 60m $(RACE)

# The tests run a small sample of it, and CI another one for each commit.
fuzz-modules: vulkan ## all 500 mutants of every kernel and 100 000 random modules on every driver: hours (LATHE_FUZZ_SHARD=2/8: a part)
	LATHE_TEST=soak $(GO) test -v -count 1 -timeout 0 -run TestGenerated ./cpu
	LATHE_TEST=soak $(GO) test -v -count 1 -timeout 0 -run 'TestMutants|TestGenerated' ./tests/foreign

# All operations run at the quick level, those on pictures at the full one too:
# SwiftShader computes a few times slower than lavapipe does.
swiftshader: ## whatever needs a device, on SwiftShader, the stricter CPU driver (Debian)
	driver=$$(tools/setup/swiftshader.sh) && export VK_DRIVER_FILES=$$driver VK_ICD_FILENAMES=$$driver LATHE_BACKEND=vk && { status=0; \
	$(GO) test -count 1 -timeout $(TIMEOUT) $(DEVICE) || status=1; \
	LATHE_TEST=full LATHE_OPS=$(STRICT) $(GO) test -count 1 -timeout $(TIMEOUT) -run TestOps ./tests/conformance || status=1; \
	exit $$status; }

STRICT = gaussian_blur,sobel_edges,grayscale,threshold,brightness,contrast,invert_colors,sharpen,pointwise,color_matrix,gamma,curves,vibrance

# Every part has cases of every operation, and compiles nearly all kernels anew. CI runs
# another one for each commit.
swiftshader-full: build ## all cases of all operations on SwiftShader: hours, or PART=i/n of them
	driver=$$(tools/setup/swiftshader.sh) && export VK_DRIVER_FILES=$$driver VK_ICD_FILENAMES=$$driver LATHE_BACKEND=vk && \
	bin/lathe verify --full $(if $(PART),--part $(PART))

# WebGPU is left out, because its driver would be this one, and so is the device cpu.
newest-mesa: ## what releases of Mesa cannot run yet, on the newest one's CPU driver (Debian, as root)
	@mkdir -p bin
	for p in internal/spv vk tests/conformance; do $(GO) test -c -tags nowgpu,nocpu -o bin/$$(basename $$p).test ./$$p || exit; done
	tools/setup/mesa.sh internal/spv $(CURDIR)/bin/spv.test -test.run TestCooperative
	tools/setup/mesa.sh vk $(CURDIR)/bin/vk.test -test.run 'TestDevice|TestInfo'
	tools/setup/mesa.sh tests/conformance $(CURDIR)/bin/conformance.test -test.run TestMatrices
	tools/setup/mesa.sh tests/conformance $(CURDIR)/bin/conformance.test -test.run TestDevices

validate: vulkan ## the conformance suite under the Vulkan validation layers
	LATHE_VALIDATION=1 $(GO) test -count 1 -timeout $(TIMEOUT) ./conformance ./tests/conformance

container-check: ## the containers of docs/containers.md: lathe verify and lathe image in them, and their sizes (Debian, as root, or docker)
	tools/container/check.sh

# The tests that are skipped are of the suite itself: they plant mistakes and count cases. Others
# compare pictures with those of other programs, or are large.
race: race-packages race-conformance ## the packages with goroutines, and the conformance suite at the quick level, under the race detector (PART=i/n: that part of the packages)

race-packages: vulkan
	LATHE_TEST=full $(GO) test -race -timeout $(TIMEOUT) $$($(GO) list $(RACE) | $(TURN))

race-conformance: vulkan
	$(GO) test -race -timeout $(TIMEOUT) -skip 'TestPairsCatch|TestHarnessCatches|TestEffort|TestPlansKeepLimits|TestSmallBindings|TestOpenGL|As[A-Z]|Many|Large|Median' ./conformance ./tests/conformance

# Packages whose tests run on a device, and those that use goroutines.
DEVICE = . ./examples/dispatch ./examples/ownop ./backend/... ./rawptr ./vk/... ./wgpu/... ./internal/exec/... ./conformance ./tests/backends ./tests/conformance ./tests/graphs
RACE   = . ./backend/... ./rawptr ./tests/backends ./tests/graphs ./handles/... ./gpu/... ./vk/... ./wgpu/... ./cpu ./internal/exec/... ./internal/gpu/... ./imageio ./internal/batch/...

# The version of staticcheck, and the hashes of all that it is built from, stand in
# the module tools/lint: so it is not a requirement of those who import Lathe.
lint: lint-format lint-vet lint-static lint-tree ## gofmt, go vet, staticcheck, import graph and size budgets

lint-format:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not formatted, run gofmt -w:" $$bad; exit 1; fi

lint-vet:
	$(GO) vet ./...

lint-static:
	$(GO) build -C tools/lint -o $(CURDIR)/bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...
	cd gonumblas && ../bin/staticcheck ./...

lint-tree:
	$(GO) test -count 1 ./internal/lint/...

build: ## build bin/lathe
	@mkdir -p bin
	$(GO) build -tags nodynamic -o bin/lathe ./cmd/lathe

man: build ## the manual page of the command, bin/lathe.1 (a release has it)
	bin/lathe man > bin/lathe.1

release: ## the files of a release, in bin/release (VERSION=v1.2.3; TARGETS=linux/arm64,...: a part); on linux/amd64 with a C compiler
	$(GO) run ./tools/release -version "$(VERSION)" -targets "$(TARGETS)"

generate: ## the typed methods of the library, from the declarations of the operations
	$(GO) run ./tools/genall
	$(GO) run ./tools/genapi

docs: ## docs/OPS.md from the declarations of the operations
	$(GO) run ./tools/opsdoc

pictures: ## the pictures of the docs, rendered by Lathe's own shaders, and the plot of a bench
	$(GO) run ./examples/scene -out docs/img
	$(GO) run ./tools/roofline

clean: ## remove what these targets made here
	rm -rf bin out

vulkan:
	@tools/setup/vulkan.sh
