# The commands for users and developers. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help setup build demo test check mutants theory research bench bench-peers format clean

export PATH := $(CURDIR)/.cache/bin:$(PATH)
quietly := tools/setup/quietly.sh
model := models/smollm2-135m-instruct
peers := .cache/peers
clients := .cache/clients
ui := .cache/ui
slipstream := build/release/tools/slipstream/slipstream
# ASK comes from the user: quote it so that neither make nor the shell expands anything in it.
shell_quoted = '$(subst ','\'',$(value $(1)))'

help:
	@echo "make demo             set up, build, ask two questions, kill a drafter: the answer does not change"
	@echo "make demo ASK='...'   the same with your own question"
	@echo "make test             set up, build, unit and end-to-end tests"
	@echo "make check            the longer tests: all under asan, ubsan and tsan, those of research/, and those marked 'check'"
	@echo "make clients          real clients (OpenAI's, Anthropic's, LangChain, the AI SDK, aiperf and others) do real tasks with the demo's model (first time: installs them into .cache/clients, 3 GB)"
	@echo "make schemas          2,000 documents of JSON-Schema-Test-Suite's schemas, sampled while a drafter proposes forbidden tokens, are valid (20 minutes)"
	@echo "make ui-test          drives the web page at /ui in a headless Chromium, with the demo's model (first time: installs playwright-core into .cache/ui)"
	@echo "make cluster-test     installs the chart on a real Kubernetes of two nodes and upgrades, scales and kills under requests (docs/use/KUBERNETES.md)"
	@echo "make faults-test      a new model, a drained node, wrong clocks, new keys and other faults under requests, on the same cluster"
	@echo "make images           builds the images into build/images, without an engine; make images-torch-cpu, make images-cuda those with libtorch; make image-test looks into all"
	@echo "make torch-image-test installs the chart with the device torch-cpu on that cluster, and compares words with drafts and without"
	@echo "make alerts-test      each alert of the chart is provoked by its cause, with a real Prometheus, on this machine"
	@echo "make tuning-test      the router tunes drafters by a real Prometheus, which is stopped and started again, on this machine"
	@echo "make keda-test        KEDA's operator scales drafters by what they are worth and verifiers by their load, on the same cluster"
	@echo "make install          installs programs, manual pages, completions and systemd units below PREFIX (docs/use/INSTALL.md)"
	@echo "make deb              makes a Debian package; make package-test installs, uses and removes it in a fresh Debian"
	@echo "make mutants          plants bugs one by one and shows which test or seed catches each (half an hour)"
	@echo "make day              a day of requests under fixed pools and under the chart's scaling policy, in virtual time, with the plot of docs/use/SCALE.md (3 minutes)"
	@echo "make scale            50 routers, 200 verifiers and 1,000 drafters in virtual time: what each has to do (docs/use/SCALE.md; 5 minutes of a core)"
	@echo "make stages           thresholds of drafts, fixed and tuned, while load, prompts, drafters and distance change, in virtual time, with the plot of docs/lab/PERFORMANCE.md (3 minutes of a core)"
	@echo "make theory           compares the papers' formulas with simulations by our own acceptance code, on one page (half a minute)"
	@echo "make research         compares the acceptance rules on the model, and what accepting costs (research/rules)"
	@echo "make bench            measures what a token, a verify step and a message cost here, and what drafts bring (bench/)"
	@echo "make bench-peers      compares with llama.cpp, OpenVINO, transformers and Arctic, installed into .cache/peers (first time: 8 GB, half an hour)"
	@echo "make train            builds slipstream-train, which trains drafters (docs/use/TRAIN.md); first time: installs libtorch into .cache/torch"
	@echo "make torch            builds all programs with the devices of libtorch into build/torch (docs/use/DEVICES.md)"
	@echo "make test-torch       runs the tests of torch's device and of the trainer"
	@echo "make test-devices     the same in the build for GPUs, whose kernels it compiles; needs no GPU (CI runs it)"
	@echo "make cuda             builds them with the device of NVIDIA's GPUs, too, into build/cuda (docs/use/DEVICES.md); first time: installs nvcc into .cache/cuda"
	@echo "make bench-gpu        measures the GPU of this machine and writes gpu-report.md"
	@echo "make cuda-resources   lists the registers of the kernels for GPUs (docs/design/CUDA.md)"
	@echo "make setup            installs what the others need: packages, crates, the model (says first what is missing)"
	@echo "make format           clang-format and rustfmt"
	@echo "make clean            remove build/ and .run/; the model and the downloads stay"

setup:
	@tools/setup/setup.sh

build: setup
	@$(quietly) configure-release cmake --preset release
	@[ -f build/release/.built ] || echo "Building all into build/release: a first time takes about 15 minutes on two cores and 1 GB"
	@$(quietly) build-release cmake --build --preset release
	@touch build/release/.built

# libtorch, which nothing but its devices and the trainer needs: no other command installs it.
.PHONY: setup-torch
setup-torch: setup
	@tools/setup/setup.sh torch

.PHONY: train
train: setup-torch
	@$(quietly) configure-torch cmake --preset torch
	@$(quietly) build-torch cmake --build --preset torch --target slipstream-train

.PHONY: torch
torch: setup-torch
	@$(quietly) configure-torch cmake --preset torch
	@$(quietly) build-torch cmake --build --preset torch --target $(programs) slipstream_torch

# The same with the device of a GPU: its kernels need nvcc, and no GPU.
.PHONY: cuda
cuda: setup-torch setup-cuda
	@$(quietly) configure-cuda cmake --preset cuda
	@$(quietly) build-cuda cmake --build --preset cuda --target $(programs) slipstream-train slipstream_torch slipstream_cuda cuda_gpu_test cuda_device_test forward

.PHONY: bench-gpu
bench-gpu: cuda
	python3 bench/gpu.py build/cuda $(gguf)

torch_tests := train_test torch_device_test slipstream-verifier
# Two tests run at once: where each had two threads of torch, these would wait for each other.
run_torch_tests = for folder in common/model/torch tools/train; do OMP_NUM_THREADS=1 ctest --test-dir build/$(1)/tests/unit/$$folder -j2 --output-on-failure --no-tests=error || exit 1; done
.PHONY: test-torch
test-torch: train
	@$(quietly) build-test-torch cmake --build --preset torch --target $(torch_tests)
	@$(call run_torch_tests,torch)

# What is compiled for a GPU is linked into its tests as well, so that nothing is missing there.
.PHONY: test-devices
test-devices: setup-torch setup-cuda
	@$(quietly) configure-cuda cmake --preset cuda
	@$(quietly) build-test-devices cmake --build --preset cuda --target $(torch_tests) slipstream_cuda cuda_gpu_test cuda_device_test
	@$(call run_torch_tests,cuda)

# nvcc, which nothing but compiling kernels/cuda for a GPU needs: no other command installs it.
.PHONY: setup-cuda setup-gpu
setup-cuda: setup
	@tools/setup/setup.sh cuda

# libtorch and NVIDIA's libraries for a machine with a GPU, which nothing but an image or an installation with them needs.
setup-gpu: setup
	@tools/setup/setup.sh gpu

.PHONY: cuda-resources
cuda-resources: setup-cuda
	@python3 kernels/cuda/resources.py .cache/cuda/nvidia/cu13/bin/nvcc

# Only the programs that the demo runs: half the work of building tests and benchmarks, too.
programs := slipstream slipstream-router slipstream-verifier slipstream-drafter
.PHONY: programs
programs: setup
	@$(quietly) configure-release cmake --preset release
	@[ -x build/release/tools/slipstream/slipstream ] || echo "Building the programs into build/release: a first time takes about 7 minutes on two cores"
	@$(quietly) build-programs cmake --build --preset release --target $(programs)

demo: programs
	@build/release/tools/slipstream/slipstream demo $(if $(value ASK),--ask $(call shell_quoted,ASK))

test: build
	@ctest --preset release -j2 -LE check

# Runs one sanitizer build after the other, then the long tests of the release build.
check: build check-dev check-tsan research-test clients
	@ctest --preset release -L check

.PHONY: check-dev check-tsan
check-dev check-tsan: check-%: setup
	@$(quietly) configure-$* cmake --preset $*
	@$(quietly) build-$* cmake --build --preset $*
	@ctest --preset $* -j2 -L 'unit|e2e-tiny'

# Needs root, Go 1.26 and the Debian packages that deploy/tests/cluster/README.md names. SK8S is where the cluster lies.
.PHONY: cluster-test faults-test keda-test torch-image-test images images-torch-cpu images-cuda image-test
images: programs
	@deploy/image/build.sh build/release $(model).gguf build/images

images-torch-cpu: torch
	@deploy/image/build.sh --torch cpu build/torch build/images

images-cuda: cuda setup-gpu
	@deploy/image/build.sh --torch cuda build/cuda build/images

image-test: images
	@$(MAKE) --no-print-directory images-torch-cpu
	@deploy/tests/image_test.py $(addprefix build/images/slipstream,.tar -tools.tar -torch-cpu.tar)

cluster-test faults-test keda-test torch-image-test: export SK8S ?= $(CURDIR)/.cache/sk8s
cluster-test faults-test keda-test: images

cluster-test:
	@deploy/tests/cluster/build.sh kube coredns helm policies kubeconform crds
	@deploy/tests/cluster_test.py

faults-test:
	@deploy/tests/cluster/build.sh kube coredns helm policies
	@deploy/tests/faults_test.py

keda-test:
	@deploy/tests/cluster/build.sh kube coredns helm keda policies
	@deploy/tests/keda_test.py

torch-image-test: image-test
	@deploy/tests/cluster/build.sh kube coredns helm
	@deploy/tests/torch_test.py

# TORCH is a build with torch, of which one alert has need.
.PHONY: alerts-test
alerts-test: programs
	@deploy/tests/alerts_test.py build/release $(if $(TORCH),--torch $(TORCH))

.PHONY: tuning-test
tuning-test: programs
	@deploy/tests/tuning_test.py build/release

# PREFIX is where it will lie, DESTDIR a root that is packed or copied later.
PREFIX ?= /usr/local
.PHONY: package-files install install-torch deb package-test
package-files: programs
	@$(quietly) build-package-files cmake --build --preset release --target package_files

install: package-files
	@DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)' --strip

# The devices of libtorch beside programs that were installed from the same sources: 450 MB.
install-torch: torch
	@DESTDIR='$(DESTDIR)' cmake --install build/torch --component torch --prefix '$(PREFIX)' --strip

deb: package-files
	@rm -rf build/release/package && $(quietly) cpack cpack --config build/release/CPackConfig.cmake -B build/release/package
	@ls build/release/package/*.deb

# Needs root: installs the package into a fresh Debian (mmdebstrap), serves from there, and removes it.
package-test: deb
	@deploy/tests/package_test.sh build/release/package/*.deb $(model).gguf

.PHONY: day scale stages
day: setup
	@$(quietly) configure-release cmake --preset release
	@$(quietly) build-day cmake --build --preset release --target day
	@python3 tests/sim/day/day.py build/release/tests/sim/day --plot docs/use/day.svg

scale: setup
	@$(quietly) configure-release cmake --preset release
	@$(quietly) build-scale cmake --build --preset release --target scale
	@build/release/tests/sim/scale

stages: setup
	@$(quietly) configure-release cmake --preset release
	@$(quietly) build-stages cmake --build --preset release --target stages
	@python3 tests/sim/tuning/stages.py build/release/tests/sim/stages --plot docs/lab/tuning.svg --verifiers 20 --drafters 100 --routers 2

mutants: setup
	@PYTHONDONTWRITEBYTECODE=1 python3 tests/mutants/mutants.py

# research/ has its own build folder, so that build/release neither builds nor tests it.
.PHONY: research-test
research-test: setup
	@$(quietly) configure-research cmake --preset research
	@$(quietly) build-research cmake --build --preset research --target research/all tests/unit/research/all
	@ctest --test-dir build/research/tests/unit/research --output-on-failure -j2

theory: research-test
	@build/research/research/theory/slipstream-theory --out build/theory.html

research: research-test
	-build/research/research/rules/accept_cost
	@[ ! -x $(peers)/bin/python ] || $(peers)/bin/python research/rules/warpers.py build/research/research/rules/accept_cost
	build/research/research/rules/rules --model $(model) --threads 2

bench: build
	build/release/bench/sample_token_bench
	build/release/bench/linear --shape 135m --threads 1,2 --repeats 5
	build/release/bench/attention
	python3 bench/forward_shapes.py build/release/bench/forward models/smollm2-135m-instruct
	build/release/bench/drafting --model models/smollm2-135m-instruct --threads 2
	build/release/bench/round_trip
	build/release/bench/worth
	build/release/bench/serving
	python3 bench/streams.py $(slipstream) $(model).gguf --plot build/streams.svg
	python3 bench/calibration.py $(slipstream) $(model).gguf --plot build/calibration.svg
	python3 bench/drafts.py $(slipstream) $(model).gguf --tokens 200
	python3 bench/drafts.py $(slipstream) $(model).gguf --tokens 200 --temperature 1
	python3 bench/drafts.py $(slipstream) $(model).gguf --tokens 200 --file bench/data/templates.jsonl --key any --warm 3

.PHONY: clients clients-installed programs-installed schemas
clients-installed: build
	@cmp -s tests/e2e/clients/requirements.txt $(clients)/requirements.txt || { python3 -m venv $(clients) && \
	  $(clients)/bin/pip install --quiet -r tests/e2e/clients/requirements.txt && cp tests/e2e/clients/requirements.txt $(clients)/; }

# Programs whose needs contradict those of other clients have a folder each; Node comes as a Python package.
programs-installed: clients-installed
	@for group in aider guidellm load; do \
	  wanted=tests/e2e/clients/requirements-$$group.txt; \
	  cmp -s $$wanted $(clients)/$$group/requirements.txt || { python3 -m venv $(clients)/$$group && \
	    $(clients)/$$group/bin/pip install --quiet -r $$wanted && cp $$wanted $(clients)/$$group/requirements.txt; } || exit 1; \
	done
	@mkdir -p $(clients)/node && cp tests/e2e/clients/node/package.json tests/e2e/clients/node/package-lock.json $(clients)/node/
	@cmp -s $(clients)/node/package-lock.json $(clients)/node/installed || { export PATH="$(abspath $(clients))/bin:$$PATH" && \
	  npm ci --prefix $(clients)/node --omit=optional --no-audit --no-fund --silent && \
	  cp $(clients)/node/package-lock.json $(clients)/node/installed; }

# All tasks run, whatever came of those before them.
clients: programs-installed
	@export LITELLM_LOCAL_MODEL_COST_MAP=True; failed=0; tasks=tests/e2e/clients; python=$(clients)/bin/python; \
	$$python $$tasks/clients.py $(slipstream) $(model).gguf || failed=1; \
	$$python $$tasks/tool_calls.py $(slipstream) $(model) || failed=1; \
	$$python $$tasks/frameworks.py $(slipstream) $(model) || failed=1; \
	$$python $$tasks/node_clients.py $(slipstream) $(model) $(clients) || failed=1; \
	$$python $$tasks/programs.py $(slipstream) $(model) $(clients) || failed=1; \
	$$python $$tasks/shapes.py $(slipstream) $(model) || failed=1; \
	exit $$failed

# JSON-Schema-Test-Suite lies in the sources of the package jsonschema, at the version that is installed.
suite = $(clients)/$(shell grep '^jsonschema==' tests/e2e/clients/requirements.txt)
schemas: clients-installed
	@[ -d $(suite)/json ] || { $(clients)/bin/pip download --quiet --no-deps --no-binary :all: -d $(suite) $(notdir $(suite)) && \
	  tar xzf $(suite)/*.tar.gz -C $(suite) --strip-components=1 --wildcards '*/json'; }
	@$(clients)/bin/python tests/e2e/clients/suite/suite.py build/release $(model).gguf $(suite)/json/tests/draft2020-12

# Needs node 20, npm and the Debian package chromium.
.PHONY: ui-test
ui-test: programs
	@node --test tests/unit/services/router/ui/ui.test.mjs
	@mkdir -p $(ui) && cp tests/e2e/browser/package.json tests/e2e/browser/package-lock.json $(ui)/
	@cmp -s $(ui)/package-lock.json $(ui)/installed || { npm ci --prefix $(ui) --no-audit --no-fund --silent && \
	  cp $(ui)/package-lock.json $(ui)/installed; }
	@SLIPSTREAM=$(slipstream) SLIPSTREAM_MODEL=$(model).gguf UI_MODULES=$(ui) node --test tests/e2e/browser/ui.test.js

bench-peers: build
	@bench/peers/setup.sh $(peers)
	$(peers)/bin/python bench/peers/compare.py build/release/bench/decode $(model).gguf $(model)
	$(peers)/bin/python bench/peers/eight_streams.py $(slipstream) $(peers)/llama-server $(model).gguf
	$(peers)/bin/python bench/peers/speculation.py $(slipstream) $(peers)/llama-server $(model).gguf $(model)
	$(peers)/bin/python bench/peers/suffixes.py $(slipstream) build/release/bench/lookup_trace $(model).gguf $(model)
	$(peers)/bin/python bench/peers/quality.py build/release/bench/logits $(model).gguf --reference $(peers)/bin/python --llama $(peers)/bin/python

format:
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i
	@! command -v rustfmt >/dev/null || rustfmt --edition 2021 --config-path common/text/rust/rustfmt.toml common/text/rust/src/*.rs

clean:
	@rm -rf build .run
