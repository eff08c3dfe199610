# Lathe. `make` alone lists the targets.
#
# demo, test and verify work on a fresh machine with Go, gcc and make: they
# install the Vulkan loader and lavapipe where no Vulkan device is found.
# None of the targets but shaders (and the second half of check) needs a shader
# compiler.

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

.PHONY: help demo test test-full check shaders generate bench bench-peers verify conformance soak fuzz-modules swiftshader swiftshader-full newest-mesa validate race lint build docs pictures clean vulkan

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: vulkan build ## filter photographs (IN=folder, or some from the module cache) into out/
	$(GO) run ./tools/demo -lathe bin/lathe -in "$(IN)" -out "$(OUT)"

# How much the tests try, quick, full or soak, is LATHE_TEST. See CONTRIBUTING.md.
test: vulkan ## the tests at the quick level: every operation, element type and backend
	$(GO) test -timeout $(TIMEOUT) ./...

test-full: vulkan ## the tests at the full level, as CI runs them
	LATHE_TEST=full $(GO) test -timeout $(TIMEOUT) ./...

check: ## shaders, generated files and format are fresh; needs no device (PART=i/n: recompile that part of the shaders)
	$(GO) run ./tools/genspirv -check $(if $(PART),-part $(PART))
	$(GO) run ./tools/opsdoc -check
	$(GO) run ./tools/genapi -check
	$(MAKE) --no-print-directory lint

shaders: ## compile shaders/ to spirv/ (needs glslc and spirv-opt)
	$(GO) run ./tools/genspirv

bench: vulkan build ## how near every operation comes to what the device can do (BENCH=--quick for a first look)
	bin/lathe bench $(BENCH)

bench-peers: vulkan ## the same operations by other Go libraries, in the same run (BENCH=-quick); docs/performance.md is made so
	$(GO) run -C tests/peers ./bench $(BENCH)

verify: vulkan build ## every operation against its reference, on this machine's device
	bin/lathe verify

conformance: vulkan ## the conformance suite on every device, and docs/conformance.md from it
	LATHE_TEST=full LATHE_TABLE=$(CURDIR)/docs/conformance.md $(GO) test -count 1 -timeout $(TIMEOUT) -run TestDevices ./conformance

# The soak level of tests/foreign is `make fuzz-modules`.
soak: vulkan ## the tests at the soak level, and the race detector several times over
	LATHE_TEST=soak $(GO) test -timeout 90m $$($(GO) list ./... | grep -v tests/foreign$$)
	LATHE_TEST=full $(GO) test -race -count 3 -timeout 60m $(RACE)

# The tests run a small sample of it, and CI another one for each commit.
fuzz-modules: vulkan ## all 500 mutants of every kernel and 100 000 random modules on every driver: hours (LATHE_FUZZ_SHARD=2/8: a part)
	LATHE_TEST=soak $(GO) test -v -count 1 -timeout 0 -run 'TestMutants|TestGenerated' ./tests/foreign

# All operations run at the quick level, those on pictures at the full one too:
# SwiftShader computes a few times slower than lavapipe does.
swiftshader: ## whatever needs a device, on SwiftShader, the stricter CPU driver (Debian)
	driver=$$(tools/setup/swiftshader.sh) && export VK_DRIVER_FILES=$$driver VK_ICD_FILENAMES=$$driver LATHE_BACKEND=vk && \
	$(GO) test -count 1 -timeout $(TIMEOUT) $(DEVICE) && \
	LATHE_TEST=full LATHE_OPS=$(STRICT) $(GO) test -count 1 -timeout $(TIMEOUT) -run TestOps ./conformance

STRICT = gaussian_blur,sobel_edges,grayscale,threshold,brightness,contrast,invert_colors,sharpen,pointwise

# Every part has cases of every operation, and compiles nearly all kernels anew. CI runs
# another one for each commit.
swiftshader-full: build ## all cases of all operations on SwiftShader: hours, or PART=i/n of them
	driver=$$(tools/setup/swiftshader.sh) && export VK_DRIVER_FILES=$$driver VK_ICD_FILENAMES=$$driver LATHE_BACKEND=vk && \
	bin/lathe verify --full $(if $(PART),--part $(PART))

# The WebGPU library is left out: its driver would be this one.
newest-mesa: ## what releases of Mesa cannot run yet, on the newest one's CPU driver (Debian, as root)
	@mkdir -p bin
	for p in internal/spv vk conformance; do $(GO) test -c -tags nowgpu -o bin/$$(basename $$p).test ./$$p || exit; done
	tools/setup/mesa.sh internal/spv $(CURDIR)/bin/spv.test -test.run TestCooperative
	tools/setup/mesa.sh vk $(CURDIR)/bin/vk.test -test.run 'TestDevice|TestInfo'
	tools/setup/mesa.sh conformance $(CURDIR)/bin/conformance.test -test.run TestMatrices
	tools/setup/mesa.sh conformance $(CURDIR)/bin/conformance.test -test.run TestDevices

validate: vulkan ## the conformance suite under the Vulkan validation layers
	LATHE_VALIDATION=1 $(GO) test -count 1 -timeout $(TIMEOUT) ./conformance/...

# The tests that are skipped are of the suite itself: they plant mistakes and count cases.
race: vulkan ## the packages with goroutines, and the conformance suite at the quick level, under the race detector
	LATHE_TEST=full $(GO) test -race -timeout $(TIMEOUT) $(RACE)
	$(GO) test -race -timeout $(TIMEOUT) -skip 'TestPairsCatch|TestHarnessCatches|TestEffort|TestPlansKeepLimits|TestOpenGL' ./conformance

# Packages whose tests run on a device, and those that use goroutines.
DEVICE = . ./examples/ownop ./backend/... ./vk/... ./wgpu/... ./internal/exec/... ./conformance/...
RACE   = . ./backend/... ./handles/... ./gpu/... ./vk/... ./wgpu/... ./internal/exec/... ./internal/gpu/... ./internal/batch/...

# The version of staticcheck, and the hashes of all that it is built from, stand in
# the module tools/lint: so it is not a requirement of those who import Lathe.
lint: ## gofmt, go vet, staticcheck, import graph and size budgets
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not formatted, run gofmt -w:" $$bad; exit 1; fi
	$(GO) vet ./...
	$(GO) build -C tools/lint -o $(CURDIR)/bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...
	$(GO) test -count 1 ./internal/lint/...

build: ## build bin/lathe
	@mkdir -p bin
	$(GO) build -o bin/lathe ./cmd/lathe

generate: ## the typed methods of the library, from the declarations of the operations
	$(GO) run ./tools/genapi

docs: ## docs/OPS.md from the declarations of the operations
	$(GO) run ./tools/opsdoc

pictures: vulkan ## the pictures of the docs, rendered by Lathe's own shaders
	$(GO) run ./examples/scene -out docs/img

clean: ## remove what these targets made here
	rm -rf bin out

vulkan:
	@tools/setup/vulkan.sh
