package memorytest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNoServer says that no server of PostgreSQL is installed.
var ErrNoServer = errors.New("!! NOT CHECKED: no PostgreSQL server is installed (apt-get install postgresql)")

// Server is a throw-away PostgreSQL cluster on a free loopback port, as another user where this is root, as whom none starts.
type Server struct {
	Port     int
	programs string
	dir      string
	running  *exec.Cmd
	log      bytes.Buffer
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

// NewServerIn makes a cluster in a folder, which goes with it.
func NewServerIn(dir string) (*Server, error) {
	s := &Server{programs: serverPrograms(), dir: dir}
	if s.programs == "" {
		return nil, ErrNoServer
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
	s.Port = free.Addr().(*net.TCPAddr).Port
	return s, errors.Join(free.Close(), s.Start())
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

// Start starts the server and waits until it answers.
func (s *Server) Start() (err error) {
	if s.running, err = s.program("postgres", "-D", s.data(), "-p", strconv.Itoa(s.Port), "-k", s.dir, "-c", "listen_addresses=127.0.0.1"); err != nil {
		return err
	}
	s.running.Stdout, s.running.Stderr = &s.log, &s.log
	if err := s.running.Start(); err != nil {
		return err
	}
	return s.Wait()
}

// Wait waits until the server answers, which it does not while it recovers from a crash.
func (s *Server) Wait() error {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if _, err := s.Query("SELECT 1"); err == nil {
			return nil
		}
	}
	return fmt.Errorf("the server does not answer\n%s", s.log.String())
}

// Query asks the server something, and gives the answer as text.
func (s *Server) Query(statement string) (string, error) {
	c, err := s.program("psql", "-h", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-U", "dmpl", "-d", "postgres", "-XAtqc", statement)
	if err != nil {
		return "", err
	}
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}

// Address gives the address of a schema, which it makes where it is not there.
func (s *Server) Address(schema string) (string, error) {
	_, err := s.Query("CREATE SCHEMA IF NOT EXISTS " + schema)
	return fmt.Sprintf("postgres://dmpl@127.0.0.1:%d/postgres?search_path=%s", s.Port, schema), err
}

// Stop sends a signal to the server and waits for its end: SIGQUIT is what pg_ctl stop -m immediate sends, a crash.
func (s *Server) Stop(signal syscall.Signal) error {
	if err := s.running.Process.Signal(signal); err != nil {
		return err
	}
	err := s.running.Wait()
	s.running = nil
	return err
}

// Close ends the server and removes the cluster.
func (s *Server) Close() (err error) {
	if s.running != nil {
		if err = s.Stop(syscall.SIGINT); err != nil {
			err = fmt.Errorf("%w\n%s", err, s.log.String())
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
