package equiv_test

import "slices"

func (m mutants) links(r run, event object, pointer string) {
	s := member(event, "retrieval_event_ids", pointer)
	links, _ := s.old.(list)
	m.one(s, append(slices.Clone(links), nil), append(slices.Clone(links), number("1")))
	rows, _ := r.rowList()
	if r.rows == nil { // nothing that a link could name: its text is compared with nothing, and the count is not known
		return
	}
	m.one(s, append(slices.Clone(links), "dangling"))
	for i, link := range links {
		m.one(s, slices.Delete(slices.Clone(links), i, i+1), append(slices.Clone(links), link))
		m.one(element(links, i, s.pointer), link.(string)+"x", "", nil)
		if i > 0 {
			m.one(element(links, i, s.pointer), links[i-1])
		}
		if i > 0 && behaviourOfRow(rows, link) != behaviourOfRow(rows, links[i-1]) {
			m.one(s, reversed(links))
		}
	}
	for _, row := range rows {
		m.one(s, append(slices.Clone(links), row.(object)["retrieval_event_id"]))
	}
}

func behaviourOfRow(rows list, id any) string {
	for _, row := range rows {
		if row := row.(object); row["retrieval_event_id"] == id {
			return short(row["policy_id"]) + short(row["policy_version"]) + short(row["query_fingerprint"]) + short(row["retrieval_mode"]) +
				string(spelling{}.append(nil, row["selected_records"]))
		}
	}
	return ""
}

func (m mutants) rows(r run) {
	if doc, ok := r.rows.(object); ok {
		if _, wrapped := doc["events"]; !wrapped {
			m.row(doc, "")
			return
		}
		m.one(member(doc, "events", ""), nil, object{}, "x")
		if metadata, ok := doc["metadata"].(object); ok {
			m.one(member(metadata, "truncated", "/metadata"), true, "false")
		}
		m.one(member(doc, "retrieval_trace_schema_version", ""), "memory.retrieval_trace.v2", nil, "")
		rows, pointer := r.rowList()
		all := member(doc, "events", "")
		m.one(all, append(slices.Clone(rows), nil))
		for i, row := range rows {
			m.one(element(rows, i, pointer), nil, "x", object{})
			again := with(row.(object), "retrieval_event_id", "another")
			m.one(all, slices.Delete(slices.Clone(rows), i, i+1), append(slices.Clone(rows), again))
		}
	}
	rows, pointer := r.rowList()
	for i, row := range rows {
		m.row(row.(object), element(rows, i, pointer).pointer)
	}
}

func (m mutants) row(row object, pointer string) {
	m.text(row, pointer, "policy_id", "policy_version", "query_normalization_version", "retrieval_mode", "retrieval_trace_schema_version")
	m.fingerprint(row, pointer, "query_fingerprint")
	m.required(row, pointer, "retrieval_event_id", "run_id", "event_id", "candidate_count", "selected_records", "applied_filters")
	m.one(member(row, "order", pointer), "x", "", nil)
	m.one(member(row, "candidate_count", pointer), number("-1"), number("1.0"))
	s := member(row, "selected_records", pointer)
	records, _ := s.old.(list)
	rank := number(short(len(records) + 1))
	m.one(s, append(slices.Clone(records), nil),
		append(slices.Clone(records), object{"record_id": "\U0010ffff", "record_type": "x", "score": number("-1e9"), "rank": rank}))
	for i, rec := range records {
		record, at := rec.(object), element(records, i, s.pointer).pointer
		m.text(record, at, "record_id")
		m.required(record, at, "score", "rank")
		m.one(member(record, "record_type", at), gone{}, nil, true, number("1"))
		m.one(member(record, "rank", at), rank, number("0"), number("1.0"))
		m.one(member(record, "score", at), number("1e400"))
		m.one(s, reranked(slices.Delete(slices.Clone(records), i, i+1)))
		if i > 0 && record["record_id"] != records[i-1].(object)["record_id"] {
			m.exchange(at, "ranks", record, records[i-1].(object), "rank")
			m.exchange(at, "records", record, records[i-1].(object), "record_id")
		}
	}
}

// exchange gives two objects one another's value of a member.
func (m mutants) exchange(pointer, what string, a, b object, name string) {
	m.yield(mutant{what + " exchanged " + pointer, []edit{{member(a, name, pointer), b[name]}, {member(b, name, pointer), a[name]}}})
}

// reranked gives records the ranks of their order in the list, as copies.
func reranked(records list) list {
	out := slices.Clone(records)
	slices.SortStableFunc(out, func(a, b any) int {
		x, _ := a.(object)["rank"].(number).Int64()
		y, _ := b.(object)["rank"].(number).Int64()
		return int(x - y)
	})
	for i, rec := range out {
		out[i] = with(rec.(object), "rank", number(short(i+1)))
	}
	return out
}
