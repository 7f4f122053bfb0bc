{{- /* Who may speak with whom in a group. */ -}}
{{- define "slipstream.network_policies" -}}
{{- if .Values.networkPolicy.enabled }}
{{- $np := .Values.networkPolicy }}
{{- $name := include "slipstream.name" . }}
# The three boundaries and the scrapes, and nothing else: clients -> router, workers -> router,
# verifiers -> drafters, router -> the workers' metrics and router.prometheus. All pods may ask DNS; none
# may reach anything else.
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $name }}-router
  labels: {{- include "slipstream.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "slipstream.selector" . | nindent 6 }}
      app.kubernetes.io/component: router
  policyTypes: [Ingress, Egress]
  ingress:
    - ports: [{port: http}]
      {{- with $np.clients }}
      from: {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- with $np.scrapers }}
    - ports: [{port: http}]
      from: {{- toYaml . | nindent 8 }}
    {{- end }}
    - ports: [{port: workers}]
      from:
        - podSelector:
            matchLabels: {{- include "slipstream.selector" . | nindent 14 }}
            matchExpressions: [{key: app.kubernetes.io/component, operator: In, values: [verifier, drafter]}]
  egress: # workers connect to it; it reads their metrics, to tune how far drafters guess
    - ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]
    - ports: [{port: 9100}]
      to:
        - podSelector:
            matchLabels: {{- include "slipstream.selector" . | nindent 14 }}
            matchExpressions: [{key: app.kubernetes.io/component, operator: In, values: [verifier, drafter]}]
    {{- if .Values.router.prometheus }}
    - ports: [{port: {{ $np.prometheus.port }}}]
      {{- with $np.prometheus.to }}
      to: {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- end }}
{{- range list "verifier" "drafter" }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $name }}-{{ . }}
  labels: {{- include "slipstream.labels" $ | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "slipstream.selector" $ | nindent 6 }}
      app.kubernetes.io/component: {{ . }}
  policyTypes: [Ingress, Egress]
  ingress:
    - ports: [{port: metrics}]
      from:
        {{- if $np.scrapers }}
        {{- toYaml $np.scrapers | nindent 8 }}
        {{- else }}
        - namespaceSelector: {}
        {{- end }}
        - podSelector:
            matchLabels:
              {{- include "slipstream.selector" $ | nindent 14 }}
              app.kubernetes.io/component: router
    {{- if eq . "drafter" }}
    - ports: [{port: drafts}]
      from:
        - podSelector:
            matchLabels:
              {{- include "slipstream.selector" $ | nindent 14 }}
              app.kubernetes.io/component: verifier
    {{- end }}
  egress:
    - ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]
    - ports: [{port: 7300}]
      to:
        - podSelector:
            matchLabels:
              {{- include "slipstream.selector" $ | nindent 14 }}
              app.kubernetes.io/component: router
    {{- if eq . "verifier" }}
    - ports: [{port: 7301}]
      to:
        - podSelector:
            matchLabels:
              {{- include "slipstream.selector" $ | nindent 14 }}
              app.kubernetes.io/component: drafter
    {{- end }}
{{- end }}
{{- end }}
{{- end -}}
