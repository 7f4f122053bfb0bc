{{- /* The drafters of a group: a Deployment for each pool. */ -}}
{{- define "slipstream.drafters" -}}
{{- range $pool, $given := .Values.drafterPools }}
{{- $v := mergeOverwrite (deepCopy $.Values.drafterDefaults) $given }}
{{- if and (ne $v.device "cpu") (eq $v.method "ngram") }}
{{- fail (printf "the drafters %s look up and compute no model: their device is cpu, not %s" $pool $v.device) }}
{{- end }}
{{- $args := concat (include "slipstream.workerArgs" $ | fromYamlArray) (list
    "--bind=tcp://0.0.0.0:7301" "--advertise=tcp://$(POD_IP):7301" (printf "--method=%s" $v.method)
    (printf "--device=%s" $v.device) (printf "--threads=%v" $v.threads)) }}
{{- with $v.draftModel }}{{ $args = append $args (printf "--draft-model=/model/%s" .) }}{{ end }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "slipstream.name" $ }}-drafter-{{ $pool }}
  labels: {{- include "slipstream.labels" $ | nindent 4 }}
spec:
  {{- if not $v.autoscaling.enabled }}
  replicas: {{ $v.replicas }}
  {{- end }}
  # A drafter may go at any time: no word changes. So an update needs no room for one more.
  strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}
  selector:
    matchLabels:
      {{- include "slipstream.selector" $ | nindent 6 }}
      app.kubernetes.io/component: drafter
      slipstream/pool: {{ $pool }}
  template:
    {{- include "slipstream.pod" (dict "root" $ "role" "drafter" "pool" $pool "values" $v "args" $args "port" 9100
        "preStop" 0 "drainMs" 0) | nindent 4 }}
{{- end }}
{{- end -}}
