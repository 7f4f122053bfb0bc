{{- /* Refuses what KEDA's admission refuses, too, but only while it is there. */ -}}
{{- define "slipstream.minUpToMax" -}}
{{- with .autoscaling }}
{{- if gt (int .min) (int .max) }}
{{- fail (printf "autoscaling of %s: min is %v, more than max, which is %v" $.of .min .max) }}
{{- end }}
{{- end }}
{{- end -}}
{{- /* What KEDA scales in a group. */ -}}
{{- define "slipstream.autoscaling" -}}
{{- $down := "advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: {stabilizationWindowSeconds: %v}}}}" }}
{{- range $pool, $given := .Values.drafterPools }}
{{- $v := mergeOverwrite (deepCopy $.Values.drafterDefaults) $given }}
{{- with $v.autoscaling }}
{{- if .enabled }}
{{- include "slipstream.minUpToMax" (dict "of" (printf "the drafters %s" $pool) "autoscaling" .) }}
{{- $values := merge (dict "namespace" $.Release.Namespace "group" $.Group "pool" $pool "method" $v.method) . }}
---
# How many drafters pay: as many as bring `acceptedPerDrafter` accepted tokens a second each, and no
# more than are needed to draft in time. Where there is none, there is nothing to measure; so while
# requests are live one is tried every `probeSeconds`, and stays for `cooldownSeconds` at least.
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ include "slipstream.name" $ }}-drafter-{{ $pool }}
  labels: {{- include "slipstream.labels" $ | nindent 4 }}
spec:
  scaleTargetRef: {name: {{ include "slipstream.name" $ }}-drafter-{{ $pool }}}
  minReplicaCount: {{ .min }}
  maxReplicaCount: {{ .max }}
  pollingInterval: {{ .pollingSeconds }}
  cooldownPeriod: {{ .cooldownSeconds }}
  # While Prometheus does not answer there are as many as there were.
  fallback: {failureThreshold: 3, replicas: 1, behavior: currentReplicas}
  {{ printf $down .downSeconds }}
  triggers:
    {{- include "slipstream.trigger" (dict "root" $ "name" "pays" "file" "drafters_pay" "values" $values) | nindent 4 }}
    {{- include "slipstream.trigger" (dict "root" $ "name" "probe" "file" "drafters_probe" "values" $values) | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.verifier.autoscaling }}
{{- if .enabled }}
{{- include "slipstream.minUpToMax" (dict "of" "the verifiers" "autoscaling" .) }}
{{- $values := merge (dict "namespace" $.Release.Namespace "group" $.Group) . }}
---
# As many verifiers as the requests and the tokens need. One that goes hands its requests to others.
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ include "slipstream.name" $ }}-verifier
  labels: {{- include "slipstream.labels" $ | nindent 4 }}
spec:
  scaleTargetRef: {name: {{ include "slipstream.name" $ }}-verifier}
  minReplicaCount: {{ .min }}
  maxReplicaCount: {{ .max }}
  pollingInterval: {{ .pollingSeconds }}
  {{ printf $down .downSeconds }}
  triggers:
    {{- include "slipstream.trigger" (dict "root" $ "name" "queue" "file" "verifiers_queue" "values" $values) | nindent 4 }}
    {{- include "slipstream.trigger" (dict "root" $ "name" "tokens" "file" "verifiers_tokens" "values" $values) | nindent 4 }}
{{- end }}
{{- end }}
{{- end -}}
