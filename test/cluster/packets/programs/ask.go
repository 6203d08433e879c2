package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type asker struct {
	target  *url.URL
	dns     string
	network string
	timeout time.Duration
	client  *http.Client
	// The last source port.
	port atomic.Uint32

	mu  sync.Mutex
	out *json.Encoder
}

type record struct {
	// Unix time of the request in milliseconds.
	AtMs float64 `json:"atMs"`
	// Milliseconds until the answer or the error.
	Took float64 `json:"took"`
	// What the server has answered; empty for a lost request.
	Answer string `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"`
}

// ask sends requests at a fixed rate, each on a connection of its own, and writes down every answer. It ends by itself.
func ask() {
	var to, family string
	var rate int
	var duration time.Duration
	a := &asker{out: json.NewEncoder(os.Stdout)}
	flags := flag.NewFlagSet("ask", flag.ExitOnError)
	flags.StringVar(&to, "to", "", "http://HOST:PORT or udp://HOST:PORT; a name is looked up for every request")
	flags.StringVar(&a.dns, "dns", "", "address of the DNS server, needed for a name")
	flags.StringVar(&family, "family", "4", "family of a name's addresses: 4 or 6")
	flags.IntVar(&rate, "rate", 30, "requests a second, at most 100")
	flags.DurationVar(&duration, "for", time.Minute, "at most 10m")
	flags.DurationVar(&a.timeout, "timeout", 2*time.Second, "after this time a request counts as lost")
	_ = flags.Parse(os.Args[1:])
	target, err := url.Parse(to)
	if err != nil || target.Port() == "" || (target.Scheme != "http" && target.Scheme != "udp") {
		fmt.Fprintf(os.Stderr, "ask: --to %q: http://HOST:PORT or udp://HOST:PORT is needed\n", to)
		os.Exit(2)
	}
	a.port.Store(rand.Uint32())
	a.target, a.network = target, "ip"+family
	a.client = &http.Client{Timeout: a.timeout, Transport: &http.Transport{DisableKeepAlives: true, DialContext: a.dial}}

	var running sync.WaitGroup
	ticker := time.NewTicker(time.Second / time.Duration(min(max(rate, 1), 100)))
	defer ticker.Stop()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, min(duration, 10*time.Minute))
	defer cancel()
	for ctx.Err() == nil {
		running.Go(a.once)
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	// Requests that have begun are written down too.
	running.Wait()
}

func (a *asker) once() {
	begun := time.Now()
	answer, err := a.answer()
	r := record{AtMs: float64(begun.UnixMicro()) / 1000, Took: float64(time.Since(begun).Microseconds()) / 1000, Answer: answer}
	if err != nil {
		r.Error = err.Error()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.out.Encode(r)
}

func (a *asker) answer() (string, error) {
	if a.target.Scheme == "udp" {
		return a.datagram()
	}
	response, err := a.client.Get(a.target.String())
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	return string(body), err
}

func (a *asker) datagram() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), a.timeout)
	defer cancel()
	connection, err := a.dial(ctx, "udp", a.target.Host)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(a.timeout))
	if _, err := connection.Write([]byte("ask")); err != nil {
		return "", err
	}
	buffer := make([]byte, 1500)
	n, err := connection.Read(buffer)
	return string(buffer[:n]), err
}

// dial uses one address of a name, by chance: no second try hides that one of them does not answer.
func (a *asker) dial(ctx context.Context, network, at string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return nil, err
	}
	if _, err := netip.ParseAddr(host); err != nil {
		if host, err = a.lookUp(ctx, host); err != nil {
			return nil, err
		}
	}
	dialer := &net.Dialer{Control: reuseAddress}
	if network == "udp" {
		dialer.LocalAddr = &net.UDPAddr{Port: a.nextPort()}
	} else {
		dialer.LocalAddr = &net.TCPAddr{Port: a.nextPort()}
	}
	return dialer.DialContext(ctx, network, net.JoinHostPort(host, port))
}

// nextPort repeats a source port after minutes only. Conntrack keeps an entry for up to two minutes, and a request from the same port follows it to the
// former pod, whatever kube-proxy's rules are by then.
func (a *asker) nextPort() int {
	const first, ports = 10_000, 55_000
	return first + int(a.port.Add(1)%ports)
}

// reuseAddress lets a port be used that a former program of the same pod has used.
func reuseAddress(_, _ string, connection syscall.RawConn) error {
	var failed error
	err := connection.Control(func(fd uintptr) { failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
	return errors.Join(err, failed)
}

func (a *asker) lookUp(ctx context.Context, name string) (string, error) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(a.dns, "53"))
	}}
	// The dot keeps the search list of the machine's own resolv.conf out.
	addresses, err := resolver.LookupNetIP(ctx, a.network, strings.TrimSuffix(name, ".")+".")
	if err != nil {
		return "", err
	}
	return addresses[rand.IntN(len(addresses))].String(), nil
}
