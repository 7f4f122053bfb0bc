// Enforces NetworkPolicies: kube-network-policies' controller, which decides on packets that netfilter
// queues. Where the kernel lacks nftables' `queue` its own rules fail, which it only logs; node.sh
// queues the packets by iptables' NFQUEUE.
package main

import (
	"context"
	"flag"
	"os/signal"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	node := flag.String("node", "", "the node's name")
	queue := flag.Int("queue", 100, "number of the queue")
	klog.InitFlags(nil)
	flag.Parse()
	context, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		klog.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config)
	factory := informers.NewSharedInformerFactory(client, 0)
	controller, err := networkpolicy.NewController(client, factory.Networking().V1().NetworkPolicies(),
		factory.Core().V1().Namespaces(), factory.Core().V1().Pods(), nil, nil, nil, nil,
		networkpolicy.Config{QueueID: *queue, NodeName: *node})
	if err != nil {
		klog.Fatal(err)
	}
	factory.Start(context.Done())
	if err := controller.Run(context); err != nil {
		klog.Fatal(err)
	}
}
