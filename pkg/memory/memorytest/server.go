package memorytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNoServer says that no server of PostgreSQL is installed.
var ErrNoServer = errors.New("!! NOT CHECKED: no PostgreSQL server is installed (apt-get install postgresql)")

// Server is a throw-away PostgreSQL cluster on a free loopback port, as another user where this is root, as whom none starts.
type Server struct {
	port     int
	programs string
	dir      string
	running  *exec.Cmd // the shell
	hold     io.Closer // while it is open, the shell leaves the server running
	pid      int       // of the server
	log      serverLog
}

// serverLog is what a server has said. Ready gets something each time that it says that it is.
type serverLog struct {
	mu    sync.Mutex
	said  bytes.Buffer
	ready chan struct{}
}

// Write keeps what the server says, which is whole lines.
func (l *serverLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.Contains(text, []byte("ready to accept connections")) {
		select {
		case l.ready <- struct{}{}:
		default:
		}
	}
	return l.said.Write(text)
}

func (l *serverLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said.String()
}

// serverPrograms gives the folder of the newest server's programs, empty where none is installed.
func serverPrograms() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// NewServer makes a cluster in a folder of its own, and starts it. The error is ErrNoServer where there is none to start.
func NewServer() (*Server, error) {
	dir, err := os.MkdirTemp("", "dmpl-postgres")
	if err != nil {
		return nil, err
	}
	s, err := NewServerIn(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// NewServerIn makes a cluster in a folder of its own, which goes with it.
func NewServerIn(dir string) (*Server, error) {
	s := &Server{programs: serverPrograms(), dir: dir, log: serverLog{ready: make(chan struct{}, 1)}}
	if s.programs == "" {
		return nil, ErrNoServer
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	made, err := s.program("initdb", "-D", s.data(), "-U", "dmpl", "--auth=trust", "-E", "UTF8", "--no-locale", "-N", "--wal-segsize=1")
	if err != nil {
		return nil, err
	}
	if out, err := made.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.port = free.Addr().(*net.TCPAddr).Port
	if err := errors.Join(free.Close(), s.Start()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// program gives a command of the server's, as a user who may run it.
func (s *Server) program(name string, args ...string) (*exec.Cmd, error) {
	c := exec.Command(filepath.Join(s.programs, name), args...)
	c.Dir = s.dir
	if os.Getuid() != 0 {
		return c, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return c, errors.Join(err1, err2, os.Chown(s.dir, int(uid), int(gid)))
}

// keeper starts a server, says its process, and ends it when its own input ends: also where the test is killed.
const keeper = `"$0" "$@" >&2 & echo $!; cat; kill -INT $! 2>&-; wait $!`

// Start starts the server and waits until it answers.
func (s *Server) Start() (err error) {
	c, err := s.program("postgres", "-D", s.data(), "-p", strconv.Itoa(s.port), "-k", s.dir, "-c", "listen_addresses=127.0.0.1")
	if err != nil {
		return err
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	c.Args, c.Path = append([]string{"sh", "-c", keeper}, c.Args...), shell
	c.Stderr = &s.log
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		return err
	}
	s.running, s.hold = c, in
	if _, err := fmt.Fscan(out, &s.pid); err != nil {
		return err
	}
	return s.Wait()
}

// Wait waits until the server says that it is ready, as it does after each start and after each recovery from a crash.
func (s *Server) Wait() error {
	ending, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	select {
	case <-s.log.ready:
		return nil
	case <-ending.Done():
		return fmt.Errorf("the server is not ready\n%s", s.log.text())
	}
}

// Query asks the server for one text.
func (s *Server) Query(statement string) (answer string, err error) {
	ending, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	db, err := pgx.Connect(ending, s.URL())
	if err != nil {
		return "", err
	}
	err = db.QueryRow(ending, statement).Scan(&answer)
	return answer, errors.Join(err, db.Close(ctx))
}

// Exec has the server do something.
func (s *Server) Exec(statement string) error {
	db, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, statement)
	return errors.Join(err, db.Close(ctx))
}

// URL gives the address of the database, without a schema.
func (s *Server) URL() string {
	return fmt.Sprintf("postgres://dmpl@127.0.0.1:%d/postgres", s.port)
}

// Address gives the address of a schema, which it makes where it is not there.
func (s *Server) Address(schema string) (string, error) {
	return s.URL() + "?search_path=" + schema, s.Exec("CREATE SCHEMA IF NOT EXISTS " + schema)
}

// Stop sends a signal to the server and waits for its end: SIGQUIT is what pg_ctl stop -m immediate sends, a crash.
func (s *Server) Stop(signal syscall.Signal) error {
	err := errors.Join(syscall.Kill(s.pid, signal), s.hold.Close())
	_ = s.running.Wait() // how a server ends that was told to crash is its own affair
	s.running = nil
	return err
}

// Close ends the server and removes the cluster.
func (s *Server) Close() (err error) {
	if s.running != nil {
		if err = s.Stop(syscall.SIGINT); err != nil {
			err = fmt.Errorf("%w\n%s", err, s.log.text())
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// Drop removes a schema.
func (s *Server) Drop(schema string) error { return s.Exec("DROP SCHEMA " + schema + " CASCADE") }

// Lock makes a role that needs a password, and may do nothing.
func (s *Server) Lock(role, password string) error {
	rules := filepath.Join(s.data(), "pg_hba.conf")
	text, err := os.ReadFile(rules)
	if err != nil {
		return err
	}
	if err := os.WriteFile(rules, append(fmt.Appendf(nil, "host all %s 127.0.0.1/32 scram-sha-256\n", role), text...), 0o600); err != nil {
		return err
	}
	return errors.Join(s.Exec(fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", role, password)), s.Exec("SELECT pg_reload_conf()"))
}
