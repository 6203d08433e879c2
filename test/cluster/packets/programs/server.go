package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/vishvananda/netns"
	core "k8s.io/api/core/v1"
)

// servers answer every request with the same line. GET /ready is their readiness, which POST /ready?is=false changes.
type servers struct {
	http     []*http.Server
	udp      []net.PacketConn
	notReady atomic.Bool
}

func serve(network *podNetwork, ports []core.ContainerPort, line string) (*servers, error) {
	s := &servers{}
	for _, port := range ports {
		address := fmt.Sprintf(":%d", port.ContainerPort)
		err := within(network.handle, func() error {
			if port.Protocol == core.ProtocolUDP {
				connection, err := net.ListenPacket("udp", address)
				if err == nil {
					s.udp = append(s.udp, connection)
					go answer(connection, line)
				}
				return err
			}
			listener, err := net.Listen("tcp", address)
			if err == nil {
				server := &http.Server{Handler: s.handler(line)}
				s.http = append(s.http, server)
				go func() { _ = server.Serve(listener) }()
			}
			return err
		})
		if err != nil {
			s.stop(0)
			return nil, err
		}
	}
	return s, nil
}

func (s *servers) handler(line string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		// The address that the packet comes from, for tests of source addresses.
		fmt.Fprintf(w, "%s %s", line, r.RemoteAddr)
	})
	mux.HandleFunc("/ready", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			s.notReady.Store(r.FormValue("is") == "false")
		} else if s.notReady.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	return mux
}

func answer(connection net.PacketConn, line string) {
	buffer := make([]byte, 1500)
	for {
		_, from, err := connection.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			_, _ = connection.WriteTo(fmt.Appendf(nil, "%s %s", line, from), from)
		}
	}
}

// stop lets requests that have begun end within the grace period. Connections after that are refused.
func (s *servers) stop(grace time.Duration) {
	if s == nil {
		return
	}
	for _, connection := range s.udp {
		_ = connection.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), min(grace, time.Second))
	defer cancel()
	for _, server := range s.http {
		_ = server.Shutdown(ctx)
		_ = server.Close()
	}
}

// within opens sockets in a network namespace, where they stay.
func within(namespace netns.NsHandle, open func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := netns.Get()
	if err != nil {
		return err
	}
	defer own.Close()
	if err := netns.Set(namespace); err != nil {
		return err
	}
	opened := open()
	return errors.Join(opened, netns.Set(own))
}
