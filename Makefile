# dmpl: everything a fresh machine needs beyond Go, git and make is fetched by the go command.
# `make demo` shows the tool, `make test` runs every test, `make check` is what CI runs.

VULN := golang.org/x/vuln/cmd/govulncheck@v1.4.0

.PHONY: build demo test check format vet staticcheck test-386 cross golden docs cover bench bench-store crash memory fuzz vuln clean

build:
	CGO_ENABLED=0 go build -trimpath -o bin/dmpl .

# The comparison with the changed run must find a divergence: its exit code is 1.
demo: build
	@echo; echo "== one run, verified: exit code 0"
	bin/dmpl verify fixtures/demo/left
	@echo; echo "== the same run made again: exit code 0"
	bin/dmpl diff fixtures/demo/left fixtures/demo/same
	@echo; echo "== another query, another record: exit code 1"
	bin/dmpl diff fixtures/demo/left fixtures/demo/changed; test $$? -eq 1
	@echo; echo "== a conversation, every context built again from its events: exit code 0"
	bin/dmpl replay fixtures/thread/streams/s01_chat_refs/snapshot.json --context-config fixtures/thread/streams/s01_chat_refs/context.json
	@echo; echo "== a recorded run, executed again from its answers: exit code 0"
	bin/dmpl replay fixtures/native/runs/single
	@echo; echo "== the same run under a changed prompt template: exit code 1"
	bin/dmpl replay fixtures/native/runs/single --config fixtures/native/tree/template.json; test $$? -eq 1

# TESTFLAGS=-v also shows the vectors that a test could not find. What is not here at all is told either way: go test keeps
# the words of packages that pass to itself.
test:
	go test $(TESTFLAGS) ./...
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || echo "!! NOT CHECKED: the store in PostgreSQL, for want of a server (apt-get install postgresql)"
	@test -d ../shared/vectors || echo "!! NOT CHECKED: the whole vectors, since ../shared/vectors is not there; those of fixtures/ were"

check: format vet staticcheck test-386 test

format:
	@files="$$(go tool gofumpt -l .)" && if [ -n "$$files" ]; then echo "gofumpt -w is needed for:"; echo "$$files"; exit 1; fi

vet:
	go vet ./...

staticcheck:
	go tool staticcheck -checks all,-ST1000 ./...

# Digests are the same where an int has 32 bits. Only an x86 Linux runs such a binary natively.
test-386:
	@if [ "$$(go env GOHOSTOS)" = linux ] && [ "$$(go env GOHOSTARCH)" = amd64 ]; then \
		echo "GOARCH=386 go test of the command line and of every package below pkg"; \
		GOARCH=386 go test $(TESTFLAGS) $$(go list ./cmd/... ./pkg/... | grep -v '/pkg$$'); \
	else \
		echo "!! NOT CHECKED: this machine cannot run 386 binaries"; \
	fi

# What the deterministic engine answers is the same to the bit on four architectures and in any environment: the tests that
# hold its answers, each platform's own binary, under qemu-user where the machine is another. No part of check: it takes
# minutes. What was not checked has not passed.
CROSS := ./pkg/canon ./pkg/dotnet ./pkg/document ./pkg/memory ./pkg/pipeline
CROSSRUN := Digest|Vectors|SideBySide|Half|Tripwire|Lower|Compare|Float|Units|JSON|Form|Load|Hash|Round

cross:
	@set -e; missing=; run="go test -count=1 -timeout 30m -run $(CROSSRUN) $(TESTFLAGS)"; \
	echo "amd64, LANG=tr_TR.UTF-8 TZ=Pacific/Apia GOMAXPROCS=1"; \
	LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 TZ=Pacific/Apia GOMAXPROCS=1 GOARCH=amd64 $$run $(CROSS); \
	echo "amd64, GOMAXPROCS=8"; GOMAXPROCS=8 GOARCH=amd64 $$run $(CROSS); \
	echo "386"; GOARCH=386 $$run $(CROSS); \
	for platform in arm64:qemu-aarch64 s390x:qemu-s390x; do \
		arch=$${platform%%:*}; qemu=$${platform##*:}; \
		command -v $$qemu >/dev/null || qemu=$$qemu-static; \
		if command -v $$qemu >/dev/null; then \
			echo "$$arch under $$qemu"; GOARCH=$$arch $$run -exec $$qemu $(CROSS); \
		else \
			echo "!! NOT CHECKED: $$arch, for want of $$qemu (apt-get install qemu-user)"; missing=1; \
		fi; \
	done; test -z "$$missing"

# Rewrites what tests compare with. Read the difference before it is committed.
golden:
	DMPL_UPDATE_GOLDEN=1 go test -count=1 ./...

# Rewrites the generated pages: every test whose name ends in Page or Pages.
docs:
	DMPL_UPDATE_GOLDEN=1 go test -count=1 -run 'Pages?$$' ./...

# Writes docs/coverage.md and fails when a deterministic package is below its least coverage.
cover:
	@mkdir -p .cache
	go test -count=1 -coverprofile=.cache/cover.out $$(go list ./... | grep -v '/pkg$$')
	go test -count=1 -run '^TestCoverageIsKnownAndSufficient$$' ./pkg -args -house.coverprofile="$(CURDIR)/.cache/cover.out"

# Go's benchmarks, then whole processes against each other: writes docs/bench/README.md.
bench:
	go test -run '^$$' -bench . -benchmem ./...
	@if command -v python3 >/dev/null; then \
		python3 docs/bench/measure.py; \
	else \
		echo "!! NOT MEASURED: no python3 on this machine, docs/bench/README.md stays as it was"; \
	fi

# Speed and size of stores, in SQLite and, where a server is installed, in PostgreSQL: writes docs/bench/store.md.
bench-store:
	@if command -v python3 >/dev/null; then \
		python3 docs/bench/store.py; \
	else \
		DMPL_FIGURES=1 go test -count=1 -timeout 60m -v -run '^TestFigures' ./pkg/memory/sqlite ./pkg/memory/postgres; \
	fi

# Kills processes between every two steps of a store, and servers at every commit, and lets eight processes share one, on each
# kind of store. Ends with the figures of all stores together; fewer than 2,000 kills are a failure.
crash:
	@mkdir -p .cache && rm -f .cache/crash
	DMPL_CRASH=4 DMPL_TALLY="$(CURDIR)/.cache/crash" go test -count=1 -timeout 60m -v -run 'Crash|Processes|Owner|Torn|Worker' ./pkg/memory/sqlite ./cmd
	DMPL_CRASH=1 DMPL_TALLY="$(CURDIR)/.cache/crash" go test -count=1 -timeout 60m -v -run 'Crash|Processes|Owner|Dies' ./pkg/memory/postgres
	@sort -k2 .cache/crash; awk '/kills|deaths/ { n += $$1 } END { print n, "kills in all"; exit n < 2000 }' .cache/crash

# Peak memory of the commands on streams at a million events: some minutes, and 2 GB of temporary files.
memory: build
	@if command -v python3 >/dev/null; then \
		python3 docs/bench/million.py; \
	else \
		echo "!! NOT MEASURED: no python3 on this machine"; exit 1; \
	fi

# Each fuzz target for 30 seconds.
fuzz:
	@set -e; for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime 30s -fuzzminimizetime 1000x $$pkg; \
		done; \
	done

# What was not checked has not passed: an unreachable tool or database fails loudly. No part of check.
vuln:
	@GOBIN="$(CURDIR)/bin" go install $(VULN) && bin/govulncheck ./... || { code=$$?; \
		if [ $$code -eq 3 ]; then echo "!! vulnerabilities found"; \
		else echo "!! NOT CHECKED: govulncheck or its database was not reached, or it could not finish (see above)"; fi; exit $$code; }

clean:
	rm -rf bin .cache
