package pipeline_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// P1: the parameter of dispatch is a type that only a mutation batch fills, so that nothing else can be dispatched.
func TestOnlyABatchFillsWhatIsDispatched(t *testing.T) {
	dispatch := reflect.TypeOf((*pipeline.Dispatcher).Dispatch)
	if dispatch.NumIn() != 2 || dispatch.In(1) != reflect.TypeFor[pipeline.Emitted]() {
		t.Fatalf("Dispatch takes %v", dispatch)
	}
	emitted := reflect.TypeFor[pipeline.Emitted]()
	for i := range emitted.NumField() {
		if f := emitted.Field(i); f.IsExported() {
			t.Errorf("%s can be set from outside", f.Name)
		}
	}
	if n := reflect.PointerTo(emitted).NumMethod(); n != 0 {
		t.Errorf("%d methods could fill it", n)
	}
}

func emitting(intents ...pipeline.Intent) pipeline.Emitted {
	y := memory.NewSystem(pipeline.DMPLv1, memory.State{}, memory.At(noon), nil)
	gate := pipeline.GateResult{Passed: true, ApprovedIntents: intents}
	return pipeline.Mutate(y, &gate, "npc", pipeline.DefaultMutationConfig(), pipeline.DMPLv1).Emitted()
}

// P5: one live dispatcher a run; closing one that is not current changes nothing; nothing outlives the run.
func TestDispatcherLifetime(t *testing.T) {
	var scene pipeline.Scene
	var arrived []string
	open := func(name string) (*pipeline.Dispatcher, error) {
		return scene.Open(func(d pipeline.Dispatched) { arrived = append(arrived, name+":"+*d.Type+":"+d.NPCID) })
	}
	must := func(d *pipeline.Dispatcher, err error) *pipeline.Dispatcher {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	wave := "wave"
	emitted := emitting(pipeline.Intent{Type: &wave})

	first := must(open("first"))
	if _, err := open("second"); !errors.Is(err, pipeline.ErrSecondDispatcher) {
		t.Errorf("a second dispatcher: %v", err)
	}
	if err := first.Dispatch(emitted); err != nil {
		t.Errorf("the refused one changed something: %v", err)
	}
	first.Close()
	if err := first.Dispatch(emitted); !errors.Is(err, pipeline.ErrNotCurrent) {
		t.Errorf("a closed dispatcher: %v", err)
	}
	third := must(open("third"))
	first.Close()
	if err := third.Dispatch(emitted); err != nil {
		t.Errorf("closing the one before closed the current one: %v", err)
	}
	scene.End()
	if err := third.Dispatch(emitted); !errors.Is(err, pipeline.ErrNotCurrent) {
		t.Errorf("a dispatcher outlived its run: %v", err)
	}
	if _, err := open("fourth"); !errors.Is(err, pipeline.ErrSceneEnded) {
		t.Errorf("a run that has ended: %v", err)
	}
	if want := []string{"first:wave:npc", "third:wave:npc"}; !reflect.DeepEqual(arrived, want) {
		t.Errorf("arrived %v, want %v", arrived, want)
	}
}
