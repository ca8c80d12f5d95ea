//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package journal

import (
	"os"
	"syscall"
	"time"
)

// lock keeps a second process off the file. The kernel lets go of it when the process dies, however it dies.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return f, nil
		}
		if try == 40 { // a killed predecessor may still be on its way out
			f.Close()
			return nil, &os.PathError{Op: "lock", Path: path, Err: err}
		}
		time.Sleep(50 * time.Millisecond)
	}
}
