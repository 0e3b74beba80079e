package postgres_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/memory/memorytest"
)

// M4, M6, M8: a process is killed before every message to the server and after it, so also where a commit may have been done.
func TestACrashBetweenAnyTwoMessagesLosesNothing(t *testing.T) {
	memorytest.Crash(t, reach, fresh, 13, 700)
}

// M1, M4: eight processes share a store.
func TestProcessesShareADatabase(t *testing.T) {
	runs := 10
	if memorytest.Rounds(t) > 0 {
		runs = 200
	}
	memorytest.Share(t, reach, fresh, runs)
}

// M7: an owner that was stopped past the end of its lease is fenced.
func TestAStoppedOwnerIsFenced(t *testing.T) { memorytest.StoppedOwner(t, reach, fresh) }
