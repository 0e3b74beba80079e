package dblgateway

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// connect opens an SQLite file for one goroutine at a time. Query holds SQLite's own parameters of a URI.
func connect(file, query string, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	name := filepath.ToSlash(file)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	uri := url.URL{Scheme: "file", Path: name, RawQuery: query}
	conn, err := sqlite.OpenConn(uri.String(), flags|sqlite.OpenURI)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(0) // the file is nobody else's
	return conn, nil
}

// run runs a statement, and calls row for each of its rows. Other errors than row's are SQLite's.
func run(conn *sqlite.Conn, statement string, row func(*sqlite.Stmt) error, args ...any) error {
	return sqlitex.ExecuteTransient(conn, statement, &sqlitex.ExecOptions{Args: args, ResultFunc: row})
}

// said is what SQLite says of an error, without the place of the file: a report says the same on every machine (Z4).
func said(err error) string {
	if code := sqlite.ErrCode(err); code != sqlite.ResultError {
		return fmt.Sprintf("%s (%d)", code.Message(), code)
	}
	return err.Error() // a statement of ours is wrong, or the error is not SQLite's
}
