// Serves pods and services of a file as the API of Kubernetes does, with the port-forward server of the kubelet.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
)

type fwd struct{ servers map[string]string }

func (f fwd) PortForward(ctx context.Context, name string, uid types.UID, port int32, stream io.ReadWriteCloser) error {
	addr, ok := f.servers[fmt.Sprintf("%s:%d", name, port)]
	if !ok {
		return fmt.Errorf("connect: connection refused")
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	done := make(chan struct{}, 2)
	go func() { io.Copy(c, stream); c.(*net.TCPConn).CloseWrite(); done <- struct{}{} }()
	go func() { io.Copy(stream, c); done <- struct{}{} }()
	<-done
	return nil
}

func main() {
	raw, _ := os.ReadFile(os.Args[1])
	var cluster struct {
		Items   []map[string]any  `json:"items"`
		Servers map[string]string `json:"servers"`
	}
	json.Unmarshal(raw, &cluster)
	out := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
	list := func(kind string) []map[string]any {
		r := []map[string]any{}
		for _, i := range cluster.Items {
			if i["kind"] == kind {
				i["apiVersion"] = "v1"
				r = append(r, i)
			}
		}
		return r
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(os.Stderr, r.Method, r.URL.Path)
		p := r.URL.Path
		switch {
		case p == "/api":
			out(w, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
		case p == "/apis":
			out(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{}})
		case p == "/api/v1":
			out(w, map[string]any{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{
				map[string]any{"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": []string{"get", "list"}},
				map[string]any{"name": "services", "singularName": "service", "namespaced": true, "kind": "Service", "verbs": []string{"get", "list"}}}})
		case strings.HasSuffix(p, "/pods"):
			out(w, map[string]any{"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{}, "items": list("Pod")})
		case strings.HasSuffix(p, "/services"):
			out(w, map[string]any{"kind": "ServiceList", "apiVersion": "v1", "metadata": map[string]any{}, "items": list("Service")})
		case strings.HasSuffix(p, "/portforward"):
			parts := strings.Split(p, "/")
			portforward.ServePortForward(w, r, fwd{cluster.Servers}, parts[len(parts)-2], "", &portforward.V4Options{}, time.Hour, 30*time.Second, portforward.SupportedProtocols)
		case strings.Contains(p, "/pods/"):
			for _, i := range list("Pod") {
				if i["metadata"].(map[string]any)["name"] == p[strings.LastIndex(p, "/")+1:] {
					out(w, i)
					return
				}
			}
			w.WriteHeader(404)
			out(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "pods not found"})
		default:
			w.WriteHeader(404)
		}
	})
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	fmt.Println(l.Addr().String())
	http.Serve(l, nil)
}
