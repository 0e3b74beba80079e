package cmd

import (
	"context"
	"os"
	"regexp"
	"sync"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/record"
)

// onStore are the flags of a run on a store (CONTRACT M2).
type onStore struct {
	store string
	environment
	nonDeterministic bool
}

func (o *onStore) bind(c *cobra.Command) {
	c.Flags().StringVar(&o.store, "store", "", "start from this store, and commit to it: sqlite:PATH or postgres://USER@HOST/DATABASE")
	o.environment.bind(c)
	c.Flags().BoolVar(&o.nonDeterministic, "non-deterministic", false, "mark the run as not deterministic, which live_read_write needs")
}

// check refuses what is asked for without a store, or marked without being so.
func (o *onStore) check(visibility string) error {
	live := visibility == execute.LiveReadWrite
	switch {
	case live && o.store == "":
		return usage("Add --store.", "--visibility live_read_write reads and writes a store, and none is given")
	case o.nonDeterministic && !live:
		return usage("Leave the flag out.", "--non-deterministic belongs to --visibility live_read_write, and this run is %s", visibility)
	}
	return nil
}

var snapshotID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{20}$`) })

// startID gives the id of a start snapshot in the store; "" where --snapshot is not given, or is a file.
func (o *runOptions) startID() string {
	if _, err := os.Lstat(o.files[0]); err == nil || o.store == "" || !snapshotID().MatchString(o.files[0]) {
		return ""
	}
	return o.files[0]
}

// sharedStore is the store of a run; nil for none.
type sharedStore struct {
	record.Shared
	ctx context.Context
}

func (a *App) share(ctx context.Context, o *runOptions) (*sharedStore, error) {
	access := memory.Access{Mode: o.visibility.value, Environment: o.env, BufferedWrite: o.allowed, NonDeterministic: o.nonDeterministic}
	if _, err := access.Visibility(); err != nil { // before the store is even opened
		return nil, storeError(err)
	}
	s, err := a.openStore(ctx, storeOptions{store: o.store}, false)
	if err != nil {
		return nil, err
	}
	return &sharedStore{record.Shared{Store: s, Start: o.startID(), Access: access}, ctx}, nil
}

// create starts a recording, on the store where there is one.
func (s *sharedStore) create(dir string, settings record.Settings, d record.Documents) (*record.Recorder, error) {
	if s == nil {
		return record.Create(dir, settings, d)
	}
	return record.CreateOn(s.ctx, s.Shared, dir, settings, d)
}
