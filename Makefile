# Two commands do everything on a fresh machine with Go: make run, make test.

GO      ?= go
RANKS   ?= $(shell nproc)
FUZZ    ?= 20s
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.PHONY: help build run test vet lint cross race verbs-test fuzz bench bench-peers scale soak clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build golaunch and every app into bin/
	@mkdir -p bin
	$(GO) build -o bin/ ./launcher/golaunch ./apps/...

run: build ## count the identifiers of Go's own source tree, checked against a serial count
	bin/golaunch -n $(RANKS) bin/wordcount --verify

# What promises times has the machine to itself.
TIMED = ./launcher/fivehosts

test: vet lint cross ## everything a check-in must pass
	$(GO) test -timeout 9m $$($(GO) list ./... | grep -v $(TIMED:.%=%))
	$(GO) test -timeout 9m $(TIMED)

vet:
	$(GO) vet ./...

lint: ## staticcheck and gofmt
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt would change:" $$unformatted; exit 1; fi
	$(GO) tool staticcheck ./...

cross: ## the house also stands on arm64
	GOARCH=arm64 $(GO) build ./...

race: ## the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 20m ./...

verbs-test: ## transport/verbs, and what is above it, on a soft-RoCE device in guests (needs qemu and a C compiler; docs/verbs.md)
	transport/verbs/guest/test.sh

fuzz: ## every fuzz target for $(FUZZ)
	@set -e; for target in $$(grep -rl --include='*_test.go' '^func Fuzz' . | sort -u); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$target); do \
			$(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZ) ./$$(dirname $$target); \
		done; done

bench: ## the project's own benchmarks, in benchstat form
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-peers: build ## measure beside Open MPI and MPICH; writes docs/performance.md
	$(GO) run ./apps/peers/compare

scale: ## simulate 100,000 hosts; writes docs/scale.md
	$(GO) run ./launcher/internal/scale/page

soak: ## the long stress tests; minutes
	GOLAUNCH_SOAK=1 $(GO) test -count=1 -timeout 60m ./...

clean: ## remove what was built
	rm -rf bin
