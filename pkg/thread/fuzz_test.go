package thread_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// FuzzStages: whatever is asked, a stage gives canonical bytes or an error, and the same twice.
func FuzzStages(f *testing.F) {
	for line := range bytes.Lines(read(f, filepath.Join("..", "..", "fixtures", "thread", "event_digest.jsonl"))) {
		f.Add(line)
	}
	const conf = `"config":{"schema_version":"1","context":{"max_refs":5,"empty_refs_policy":"EXPAND_LAST_N"},"normalization":{"conditional_rules":{"EXPAND_THREAD_HISTORY":{"enabled":1}}}}`
	const events = `"thread_events":[{"index":0,"kind":"INTENT","thread_id":"t","correlation_id":"i","canon_len":1,"payload":{"message":"m"}},{"index":1,"kind":"EXECUTION","thread_id":"t","correlation_id":"e","canon_len":1,"payload":{"result":{"text":[1]}}}]`
	f.Add([]byte(contextWith(`"declared_refs":[{"ref_type":"a","ref_id":"b","version":1}],"resolved_refs":[{"ref_type":"a","ref_id":"b","event_index":true}]`, `{}`)))
	f.Add([]byte(`{"decision":{"policy":{"policy_id":"p","policy_version":"1"},"assembly_digest":null,"context_digest":"x","result":"DENY","reasons":[{"code":"c","params":{}}],"transforms":[],"permitted_tools":[1,null]}}`))
	f.Add([]byte(`{"declared_refs":[{"ref_type":"event","ref_id":"e"},{"ref_type":"event","ref_id":"i"}],"thread_id":"t","intent_type":"chat.message",` + conf + `,` + events + `}`))
	f.Add([]byte(`{"payload":{"thread_id":"t","turn_id":"u","message":"m","context_n":2},"intent_type":"chat.message",` + conf + `,` + events + `}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		input, err := thread.Read(src)
		if err != nil {
			return
		}
		for name, stage := range stages {
			out, err := stage(input)
			again, errAgain := stage(input)
			if (err == nil) != (errAgain == nil) || !bytes.Equal(out, again) {
				t.Errorf("%s: %s, error %v; again %s, error %v", name, out, err, again, errAgain)
			}
			if err != nil {
				continue
			}
			if normal, err := canon.Append(nil, out, canon.DBL); err != nil || !bytes.Equal(normal, out) {
				t.Errorf("%s: the answer %s is not canonical: %s, error %v", name, out, normal, err)
			}
		}
	})
}
