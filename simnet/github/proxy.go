package github

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// proxiedNames are the hosts a [Proxy] answers for.
var proxiedNames = []string{"github.com", "api.github.com"}

// handshakeTimeout bounds how long a proxied connection may take to ask.
const handshakeTimeout = 30 * time.Second

// Proxy is an HTTPS proxy that answers for github.com and api.github.com itself and refuses every other host. With HTTPS_PROXY set to its address
// and SSL_CERT_FILE to its authority, unchanged gh and git programs take the stand-in for GitHub. Close it after use.
type Proxy struct {
	tls    *tls.Config
	inner  http.Server
	funnel funnel
	served sync.WaitGroup
}

// NewProxy makes a proxy in front of s. It writes the certificate of a throw-away authority, good for two days, to caFile.
func (s *Server) NewProxy(caFile string) (*Proxy, error) {
	cert, err := certify(caFile, proxiedNames...)
	if err != nil {
		return nil, fmt.Errorf("make proxy: %w", err)
	}
	p := &Proxy{
		tls:   &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}},
		inner: http.Server{Handler: s, ReadHeaderTimeout: handshakeTimeout}, funnel: funnel{conns: make(chan net.Conn), done: make(chan struct{})},
	}
	p.served.Go(func() { p.inner.Serve(&p.funnel) })
	return p, nil
}

// Close ends every proxied connection.
func (p *Proxy) Close() error {
	err := p.inner.Close()
	p.funnel.Close()
	p.served.Wait()
	return err
}

// ServeHTTP takes a CONNECT over and answers it as the host it names.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	host, port, err := net.SplitHostPort(req.Host)
	if req.Method != http.MethodConnect || err != nil || port != "443" || !slices.Contains(proxiedNames, host) {
		http.Error(w, "the stand-in's proxy serves github.com alone", http.StatusForbidden)
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		conn.Close()
		return
	}
	p.funnel.put(tls.Server(buffered{conn, rw.Reader}, p.tls))
}

// buffered is a connection some of which was read already.
type buffered struct {
	net.Conn
	r *bufio.Reader
}

// Read reads what was buffered first.
func (b buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// funnel is a listener for connections that came another way.
type funnel struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// put hands a connection over, or closes it when nobody listens any more.
func (f *funnel) put(c net.Conn) {
	select {
	case f.conns <- c:
	case <-f.done:
		c.Close()
	}
}

// Accept waits for the next connection.
func (f *funnel) Accept() (net.Conn, error) {
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (f *funnel) Close() error {
	f.once.Do(func() { close(f.done) })
	return nil
}

// Addr is no address of its own.
func (f *funnel) Addr() net.Addr { return &net.TCPAddr{} }

// certify makes a throw-away authority, writes its certificate to caFile and signs a certificate for names.
func certify(caFile string, names ...string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	from, to := time.Now().Add(-time.Hour), time.Now().Add(48*time.Hour)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "GitHub stand-in authority, not to be trusted"},
		NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "GitHub stand-in"}, NotBefore: from, NotAfter: to,
		DNSNames: names, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, authority, &leafKey.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER})
	if err := os.WriteFile(caFile, text, 0o644); err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{leafDER, authorityDER}, PrivateKey: leafKey}, nil
}
