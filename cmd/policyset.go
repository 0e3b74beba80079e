package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

// readPolicies reads a policy set that is to be applied: a rule or hook that is not known is an error (CONTRACT D9).
func readPolicies(path string) (*memory.PolicySet, error) {
	f, err := dialect.ReadFile(path, nil, 0)
	if err != nil {
		return nil, err
	}
	set, err := memory.ReadPolicySet(f.Data, memory.NoHook)
	return set, located(path, badDocument(err))
}

// badDocument gives a complaint about a member the form that every bad document has.
func badDocument(err error) error {
	var wrong *document.Error
	if errors.As(err, &wrong) {
		return &canon.Error{Code: string(finding.ShapeValue), Offset: -1, Pointer: wrong.Pointer, Detail: wrong.Detail}
	}
	return err
}

// policySetDigestCommand prints policy_set_id (CONTRACT D9).
func (a *App) policySetDigestCommand() *cobra.Command {
	var o documentOptions
	c := &cobra.Command{
		Use:   "policy-set [FILE|-]",
		Short: "Print the policy_set_id of a policy set",
		Long: `policy-set prints the SHA-256 of a policy set (memory.policy_set.v1) under json-v1, as 64 hex digits. The policy set is read
strictly first: a member, rule or hook that is not known is an error, never a pass.`,
		Example: `  dmpl digest policy-set policies.json`,
		Args:    fileArgument,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.documents(fileOf(args), o, func(dst, document []byte) ([]byte, error) {
				set, err := memory.ReadPolicySet(document, memory.NoHook)
				if err != nil {
					return dst, badDocument(err)
				}
				dst = append(dst, set.ID...)
				if !o.jsonl {
					dst = append(dst, '\n')
				}
				return dst, nil
			})
		},
	}
	o.bind(c)
	return c
}
