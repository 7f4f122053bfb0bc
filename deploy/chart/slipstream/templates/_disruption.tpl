{{- /* How many pods of a group may go at once. */ -}}
{{- define "slipstream.disruption" -}}
{{- if .Values.podDisruptionBudget.enabled }}
{{- range $role := list "router" "verifier" }}
{{- if gt (int (index $.Values $role).replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "slipstream.name" $ }}-{{ $role }}
  labels: {{- include "slipstream.labels" $ | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "slipstream.selector" $ | nindent 6 }}
      app.kubernetes.io/component: {{ $role }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
