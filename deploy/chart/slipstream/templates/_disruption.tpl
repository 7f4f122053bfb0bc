{{- /* How many pods of a group may go at once. */ -}}
{{- define "slipstream.disruption" -}}
{{- if .Values.podDisruptionBudget.enabled }}
{{- range $role := list "router" "verifier" }}
{{- $v := index $.Values $role }}
{{- $scaled := dig "autoscaling" "enabled" false $v }}
{{- if gt (int (ternary (dig "autoscaling" "min" 0 $v) $v.replicas $scaled)) 1 }}
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
