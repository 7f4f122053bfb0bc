{{- /* The verifiers of a group. */ -}}
{{- define "slipstream.verifier" -}}
{{- $v := .Values.verifier }}
{{- if and (ne $v.device "cpu") (ne $v.path "auto") }}
{{- fail (printf "verifier.path is for the device cpu alone, and verifier.device is %s" $v.device) }}
{{- end }}
{{- $ours := list "bf16" "q8_0" "q4_0" "q4_1" "q5_1" "q6_k" }}
{{- $torchs := list "f32" "bf16" "f16" }}
{{- $weights := $torchs }}
{{- if eq $v.device "cpu" }}
{{- $weights = $ours }}
{{- else if hasPrefix "cuda" $v.device }}
{{- $weights = concat $torchs $ours (list "small") }}
{{- end }}
{{- if not (has $v.weights (append $weights "file")) }}
{{- fail (printf "verifier.device %s has no verifier.weights %s" $v.device $v.weights) }}
{{- end }}
{{- $args := concat (include "slipstream.workerArgs" . | fromYamlArray) (list
    (printf "--drain-ms=%v" $v.drainMs) (printf "--threads=%v" $v.threads) (printf "--device=%s" $v.device)
    (printf "--path=%s" $v.path) (printf "--weights=%s" $v.weights) (printf "--cache-tokens=%v" $v.cacheTokens) (printf "--resident=%s" $v.resident)) }}
{{- range .Values.drafterPools }}
{{- if eq (dig "method" $.Values.drafterDefaults.method .) "draft-head" }}{{ $args = append $args "--head-at=drafters" | uniq }}{{ end }}
{{- end }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "slipstream.name" . }}-verifier
  labels: {{- include "slipstream.labels" . | nindent 4 }}
spec:
  {{- if not $v.autoscaling.enabled }}
  replicas: {{ $v.replicas }}
  {{- end }}
  minReadySeconds: 5 # until every router has found it, too
  strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}
  selector:
    matchLabels:
      {{- include "slipstream.selector" . | nindent 6 }}
      app.kubernetes.io/component: verifier
  template:
    {{- /* Where a whole group goes, its routers still serve before SIGTERM, and need a verifier. */}}
    {{- include "slipstream.pod" (dict "root" . "role" "verifier" "values" $v "args" $args "port" 9100
        "preStop" (add .Values.router.preStopSeconds 2) "drainMs" $v.drainMs) | nindent 4 }}
{{- end -}}
