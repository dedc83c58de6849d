package localenv

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ServiceAccountKubeconfig writes a kubeconfig that acts as a service account,
// with a token that is valid for the given time (ten minutes at least): what
// runs with it has the rights that it would have in the cluster.
func ServiceAccountKubeconfig(ctx context.Context, admin *rest.Config, namespace, name, path string, validFor time.Duration) error {
	clients, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	seconds := int64(validFor.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	token, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("token for service account %s/%s: %w", namespace, name, err)
	}
	cluster := &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData}
	return writeKubeconfig(path, cluster, &clientcmdapi.AuthInfo{Token: token.Status.Token}, namespace)
}

func writeKubeconfig(path string, cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo, namespace string) error {
	const name = "localenv"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = cluster
	config.AuthInfos[name] = user
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}
