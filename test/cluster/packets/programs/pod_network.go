package main

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"k8s.io/apimachinery/pkg/api/errors"
)

// node is a network namespace that routes its pods' packets; kube-proxy runs there.
type node struct {
	name, namespace, address string
	// The next address of each range. An address is used once only.
	next []netip.Addr
	// Pods that run, and pods that were bound and not seen since.
	pods, bound int
	interfaces  int
}

func newNode(text string) (*node, error) {
	parts := strings.Split(text, "=")
	if len(parts) != 5 {
		return nil, fmt.Errorf("node %q: NAME=NETWORK-NAMESPACE=ADDRESS=IPV4-RANGE=IPV6-RANGE is needed", text)
	}
	n := &node{name: parts[0], namespace: parts[1], address: parts[2]}
	for _, text := range parts[3:] {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		// The first one is the node's own.
		n.next = append(n.next, prefix.Addr().Next().Next())
	}
	return n, nil
}

func (n *node) nextAddresses() (addresses []string) {
	for i, address := range n.next {
		addresses = append(addresses, address.String())
		n.next[i] = address.Next()
	}
	n.interfaces++
	return addresses
}

type podNetwork struct {
	name   string
	handle netns.NsHandle
}

// newPodNetwork makes a network namespace of a name, with a veth pair to its node.
func newPodNetwork(name string, n *node, addresses []string) (*podNetwork, error) {
	of, err := netns.GetFromName(n.namespace)
	if err != nil {
		return nil, fmt.Errorf("namespace of node %s: %w", n.name, err)
	}
	defer of.Close()
	made, err := newNamespace(name)
	if err != nil {
		return nil, err
	}
	network := &podNetwork{name, made}
	if err := network.connect(of, "p"+strings.ReplaceAll(addresses[0], ".", "x"), addresses); err != nil {
		network.remove()
		return nil, err
	}
	return network, nil
}

// newNamespace needs a thread of its own, because unshare changes the thread.
func newNamespace(name string) (handle netns.NsHandle, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := netns.Get()
	if err != nil {
		return 0, err
	}
	defer own.Close()
	if handle, err = netns.NewNamed(name); err != nil {
		return 0, fmt.Errorf("network namespace %s: %w", name, err)
	}
	return handle, netns.Set(own)
}

func (network *podNetwork) connect(nodeNamespace netns.NsHandle, nodeSide string, addresses []string) error {
	onNode, err := netlink.NewHandleAt(nodeNamespace)
	if err != nil {
		return err
	}
	defer onNode.Close()
	inPod, err := netlink.NewHandleAt(network.handle)
	if err != nil {
		return err
	}
	defer inPod.Close()
	if len(nodeSide) > 15 {
		nodeSide = nodeSide[:15]
	}
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: nodeSide}, PeerName: "eth0", PeerNamespace: netlink.NsFd(network.handle)}
	if err := onNode.LinkAdd(veth); err != nil {
		return fmt.Errorf("veth %s: %w", nodeSide, err)
	}
	host, err := onNode.LinkByName(nodeSide)
	if err != nil {
		return err
	}
	eth0, err := inPod.LinkByName("eth0")
	if err != nil {
		return err
	}
	loopback, err := inPod.LinkByName("lo")
	if err != nil {
		return err
	}
	for _, up := range []func() error{
		func() error { return onNode.LinkSetUp(host) },
		func() error { return inPod.LinkSetUp(loopback) },
		func() error { return inPod.LinkSetUp(eth0) },
	} {
		if err := up(); err != nil {
			return err
		}
	}
	for _, text := range addresses {
		if err := route(onNode, inPod, host, eth0, net.ParseIP(text)); err != nil {
			return fmt.Errorf("routes of %s: %w", text, err)
		}
	}
	return nil
}

// The node side has the same link-local gateway on every veth, as Calico does it.
var gateways = map[bool]*netlink.Addr{true: address("169.254.1.1/32"), false: address("fe80::1/64")}

func address(text string) *netlink.Addr {
	parsed, err := netlink.ParseAddr(text)
	if err != nil {
		panic(err)
	}
	if parsed.IP.To4() == nil {
		// Without duplicate address detection, which takes a second.
		parsed.Flags = 0x02
	}
	return parsed
}

func route(onNode, inPod *netlink.Handle, host, eth0 netlink.Link, ip net.IP) error {
	is4 := ip.To4() != nil
	bits := map[bool]int{true: 32, false: 128}[is4]
	gateway := gateways[is4]
	own := net.IPNet{IP: ip, Mask: net.CIDRMask(bits, bits)}
	if err := onNode.AddrAdd(host, gateway); err != nil {
		return err
	}
	if err := onNode.RouteAdd(&netlink.Route{LinkIndex: host.Attrs().Index, Dst: &own, Scope: netlink.SCOPE_LINK}); err != nil {
		return err
	}
	if err := inPod.AddrAdd(eth0, address(own.String())); err != nil {
		return err
	}
	if is4 {
		via := net.IPNet{IP: gateway.IP, Mask: net.CIDRMask(bits, bits)}
		if err := inPod.RouteAdd(&netlink.Route{LinkIndex: eth0.Attrs().Index, Dst: &via, Scope: netlink.SCOPE_LINK}); err != nil {
			return err
		}
	}
	return inPod.RouteAdd(&netlink.Route{LinkIndex: eth0.Attrs().Index, Gw: gateway.IP})
}

// remove takes the veth pair with it.
func (network *podNetwork) remove() {
	if network == nil {
		return
	}
	_ = network.handle.Close()
	_ = netns.DeleteNamed(network.name)
}

func isGone(err error) bool { return errors.IsNotFound(err) || errors.IsConflict(err) }
