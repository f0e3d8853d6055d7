// SPDX-License-Identifier: GPL-2.0-only

// Metrics of a Go program that controllers read, without cgo: see <dart/registration.h>.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	socketPath  = "/run/dart/dartd.sock"
	sealShrink  = 2
	sealGrow    = 4
	sealFuture  = 16 // not before Linux 6.2
	addSeals    = 1033
	allowSeals  = 2
	closeOnExec = 1
	// The number of memfd_create() on x86-64; it is 279 on arm64.
	memfdCreate = 319
)

// Web is a structure without pointers; its fields are described in the request below.
type Web struct {
	Requests    uint64
	Connections uint32
	_           uint32
}

type field struct {
	Name   string `json:"name"`
	Offset int    `json:"offset"`
	Width  int    `json:"width"`
	Kind   string `json:"kind"`
}

type schema struct {
	Name   string  `json:"name"`
	Length int     `json:"length"`
	Fields []field `json:"fields"`
}

type request struct {
	Request string `json:"request"`
	Name    string `json:"name"`
	Offset  int    `json:"offset"`
	Schema  schema `json:"schema"`
}

// create returns sealed memory and its descriptor.
func create(size int) (int, []byte, error) {
	name, _ := syscall.BytePtrFromString("zero.go")
	fd, _, errno := syscall.Syscall(memfdCreate, uintptr(unsafe.Pointer(name)),
		closeOnExec|allowSeals, 0)
	if errno != 0 {
		return -1, nil, errno
	}
	if err := syscall.Ftruncate(int(fd), int64(size)); err != nil {
		return -1, nil, err
	}
	memory, err := syscall.Mmap(int(fd), 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED)
	if err != nil {
		return -1, nil, err
	}
	_, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, addSeals,
		sealShrink|sealGrow|sealFuture)
	if errno != 0 {
		return -1, nil, errno
	}
	return int(fd), memory, nil
}

// register returns the descriptor whose last copy ends the entries.
func register(fd int, asked request) (int, error) {
	connection, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socketPath, Net: "unix"})
	if err != nil {
		return -1, err
	}
	defer connection.Close()
	line, _ := json.Marshal(asked)
	_, _, err = connection.WriteMsgUnix(append(line, '\n'), syscall.UnixRights(fd), nil)
	if err != nil {
		return -1, err
	}
	reply, control := make([]byte, 65536), make([]byte, 64)
	count, room, _, _, err := connection.ReadMsgUnix(reply, control)
	if err != nil {
		return -1, err
	}
	var answer struct {
		Ok      bool   `json:"ok"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(reply[:count], &answer); err != nil || !answer.Ok {
		return -1, fmt.Errorf("dartd: %s %v", answer.Message, err)
	}
	messages, err := syscall.ParseSocketControlMessage(control[:room])
	if err != nil || len(messages) == 0 {
		return -1, err
	}
	descriptors, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(descriptors) == 0 {
		return -1, err
	}
	return descriptors[0], nil
}

func main() {
	fd, memory, err := create(os.Getpagesize())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	site := (*Web)(unsafe.Pointer(&memory[0]))
	proof, err := register(fd, request{"new-slice", "go/site", 0, schema{"web", 16, []field{
		{"requests", 0, 8, "counter"}, {"connections", 8, 4, "gauge"}}}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "nobody can see the metrics:", err)
	}
	// A number, which the garbage collector does not close.
	fmt.Fprintln(os.Stderr, "the entry go/site ends with descriptor", proof)
	for {
		atomic.AddUint64(&site.Requests, 1)
		time.Sleep(time.Millisecond)
	}
}
