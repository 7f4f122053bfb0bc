{{- define "slipstream.releaseName" -}}{{ .Release.Name | trunc 30 | trimSuffix "-" }}{{- end -}}
{{- /* What the objects of a group are called, and what chooses its pods. */ -}}
{{- define "slipstream.name" -}}{{ include "slipstream.releaseName" . }}{{ with .Group }}-{{ . }}{{ end }}{{- end -}}
{{- define "slipstream.keys" -}}{{ .Values.keys.existingSecret | default (printf "%s-keys" (include "slipstream.releaseName" .)) }}{{- end -}}
{{- define "slipstream.release" -}}
app.kubernetes.io/name: slipstream
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "slipstream.selector" -}}
{{ include "slipstream.release" . }}
{{- with .Group }}
slipstream/group: {{ . }}
{{- end }}
{{- end -}}
{{- define "slipstream.labels" -}}
{{ include "slipstream.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
{{- define "slipstream.image" -}}
image: {{ printf "%s:%s%s" .image.repository (.image.tag | default .root.Chart.AppVersion) (.flavour | default "") | quote }}
imagePullPolicy: {{ .image.pullPolicy }}
{{- end -}}
{{- /* What the tag of the services' image ends with: each device of libtorch has a flavour of its own. */ -}}
{{- define "slipstream.flavour" -}}
{{- if eq . "torch-cpu" }}-torch-cpu{{ else if hasPrefix "cuda" . }}-cuda{{ end -}}
{{- end -}}
{{- /* What a container may use: the role's resources and, on a GPU, one GPU unless they name NVIDIA's themselves. */ -}}
{{- define "slipstream.resources" -}}
{{- $resources := deepCopy .resources }}
{{- if and (hasPrefix "cuda" (.device | default "cpu")) (not (regexMatch "nvidia\\.com/" (toJson (.resources.limits | default dict)))) }}
{{- $_ := set $resources "limits" (merge (dict "nvidia.com/gpu" 1) ($resources.limits | default dict)) }}
{{- end }}
{{- toYaml $resources }}
{{- end -}}
{{- /* Seconds after which a pod that was told to stop is killed: its drain, and some to end. */ -}}
{{- define "slipstream.grace" -}}{{ add 5 .preStop (div (add .drainMs 999) 1000) }}{{- end -}}

{{- define "slipstream.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}
{{- define "slipstream.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532 # the Secrets of `keys` are read by this group
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- /* A trigger of KEDA: files/scaling/FILE.promql with its ${...} filled in. The simulator asks the same files. */ -}}
{{- define "slipstream.trigger" -}}
{{- $query := .root.Files.Get (printf "files/scaling/%s.promql" .file) }}
{{- range $key, $value := .values }}{{ $query = replace (printf "${%s}" $key) (toString $value) $query }}{{ end -}}
- type: prometheus
  name: {{ .name }}
  metricType: AverageValue
  metadata:
    serverAddress: {{ required "autoscaling.prometheus is the address of a Prometheus" .values.prometheus | quote }}
    threshold: "1"
    query: |
      {{- $query | trim | nindent 6 }}
{{- end -}}
