{{- /* The routers of a group, and where its workers find them. */ -}}
{{- define "slipstream.router" -}}
{{- $args := list "--http=0.0.0.0:8080" "--bind=tcp://0.0.0.0:7300" (printf "--drain-ms=%v" .Values.router.drainMs) }}
{{- $args = append $args (ternary "--api-key-file=/api-keys/api-keys" "--open" (not (empty .Values.access.apiKeysSecret))) }}
{{- with .Values.model.name }}{{ $args = append $args (printf "--model-name=%s" .) }}{{ end }}
{{- with .Values.router.prometheus }}{{ $args = append $args (printf "--prometheus=%s" .) }}{{ end }}
{{- with .Values.router.trust }}{{ $args = append $args (printf "--trust=%s" (join "," .)) }}{{ end }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "slipstream.name" . }}-router
  labels: {{- include "slipstream.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.router.replicas }}
  strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}
  selector:
    matchLabels:
      {{- include "slipstream.selector" . | nindent 6 }}
      app.kubernetes.io/component: router
  template:
    {{- include "slipstream.pod" (dict "root" . "role" "router" "values" .Values.router "args" $args "port" 8080
        "preStop" .Values.router.preStopSeconds "drainMs" .Values.router.drainMs) | nindent 4 }}
---
# Where workers find all routers. A router is not ready before it has a verifier, and a verifier must
# find it before that.
apiVersion: v1
kind: Service
metadata:
  name: {{ include "slipstream.name" . }}-routers
  labels: {{- include "slipstream.labels" . | nindent 4 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "slipstream.selector" . | nindent 4 }}
    app.kubernetes.io/component: router
  ports: [{name: workers, port: 7300, targetPort: workers}]
{{- end -}}
