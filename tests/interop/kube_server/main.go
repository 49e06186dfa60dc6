// Runs the API server of Kubernetes with etcd, and the port-forward server of a kubelet, in one process.
//
// Usage: kube_server FOLDER SERVERS API_SERVER_OPTION...
//
// SERVERS is a JSON file with the address that a port of a pod leads to, by "POD:PORT". The first line of the
// output is the port of the kubelet.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/cli"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	folder, serversFile, options := os.Args[1], os.Args[2], os.Args[3:]
	etcdURL := startEtcd(filepath.Join(folder, "etcd"))
	fmt.Println(startKubelet(serversFile))
	command := app.NewAPIServerCommand()
	command.SetArgs(append([]string{"--etcd-servers", etcdURL}, options...))
	os.Exit(cli.Run(command))
}

func startEtcd(folder string) string {
	config := embed.NewConfig()
	config.Dir, config.LogLevel = folder, "error"
	clientURL, peerURL := freeURL(), freeURL()
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{clientURL}, []url.URL{clientURL}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peerURL}, []url.URL{peerURL}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		log.Fatal(err)
	}
	<-server.Server.ReadyNotify()
	return clientURL.String()
}

func freeURL() url.URL {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer listener.Close()
	return url.URL{Scheme: "http", Host: listener.Addr().String()}
}

// startKubelet serves /portForward/NAMESPACE/POD with a certificate of its own, and returns the port.
func startKubelet(serversFile string) int {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{makeCertificate()}})
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/portForward/", func(writer http.ResponseWriter, request *http.Request) {
		podName := request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:]
		portforward.ServePortForward(writer, request, forwarder{serversFile}, podName, "",
			&portforward.V4Options{}, time.Hour, 30*time.Second, portforward.SupportedProtocols)
	})
	go http.Serve(listener, nil)
	return listener.Addr().(*net.TCPAddr).Port
}

func makeCertificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}
}

type forwarder struct{ serversFile string }

func (f forwarder) PortForward(
	_ context.Context, podName string, _ types.UID, port int32, stream io.ReadWriteCloser,
) error {
	text, err := os.ReadFile(f.serversFile)
	if err != nil {
		return err
	}
	var servers map[string]string
	if err := json.Unmarshal(text, &servers); err != nil {
		return err
	}
	addr, found := servers[fmt.Sprintf("%s:%d", podName, port)]
	if !found {
		return fmt.Errorf("connect: connection refused")
	}
	connection, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer connection.Close()
	done := make(chan struct{}, 2)
	go func() { io.Copy(connection, stream); connection.(*net.TCPConn).CloseWrite(); done <- struct{}{} }()
	go func() { io.Copy(stream, connection); done <- struct{}{} }()
	<-done
	return nil
}
