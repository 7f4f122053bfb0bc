{{- /*
The pod of a process. The argument is a dict:
  root      the chart's context
  role      router, verifier or drafter
  values    the role's or the pool's values
  args      a list of flags, beside those that every process has
  port      of /health, /ready and /metrics
  preStop   seconds between the end of the pod's place in Services and SIGTERM
  drainMs   how long it may go on after SIGTERM
*/ -}}
{{- define "slipstream.pod" -}}
metadata:
  labels:
    {{- include "slipstream.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
    {{- with .pool }}
    slipstream/pool: {{ . }}
    {{- end }}
  {{- with .values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  # A Service named `slipstream` would set SLIPSTREAM_PORT, which the programs read as --port.
  enableServiceLinks: false
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ include "slipstream.grace" . }}
  {{- include "slipstream.podSecurity" . | nindent 2 }}
  {{- with .values.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if eq .root.Values.model.source "image" }}
  initContainers:
    - name: model
      {{- include "slipstream.image" (dict "root" .root "image" .root.Values.model.image) | nindent 6 }}
      command: [sh, -euc, "cp -r /model/. /to/; cd /to; sha256sum -c SHA256SUMS"]
      {{- include "slipstream.containerSecurity" . | nindent 6 }}
      # A namespace with a quota asks for them, and a pod needs no more for an init container that has the same.
      resources: {{- toYaml .values.resources | nindent 8 }}
      volumeMounts: [{name: model, mountPath: /to}]
  {{- end }}
  containers:
    - name: {{ .role }}
      {{- include "slipstream.image" (dict "root" .root "image" .root.Values.image
          "flavour" (include "slipstream.flavour" (.values.device | default "cpu"))) | nindent 6 }}
      command: [/usr/local/bin/slipstream-{{ .role }}]
      args:
        - --model=/model/{{ .root.Values.model.path }}
        - --key=/keys/{{ .role }}.key
        - --peers=/keys/peers
        {{- range concat .args .values.extraArgs }}
        - {{ . | quote }}
        {{- end }}
      env:
        - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
      ports:
        - {name: {{ ternary "http" "metrics" (eq .role "router") }}, containerPort: {{ .port }}}
        {{- if eq .role "router" }}
        - {name: workers, containerPort: 7300}
        {{- else if eq .role "drafter" }}
        - {name: drafts, containerPort: 7301}
        {{- end }}
      # The port opens once the model is loaded.
      startupProbe: {httpGet: {path: /health, port: {{ .port }}}, periodSeconds: 1, failureThreshold: 600, timeoutSeconds: 5}
      # Not /ready: a router without verifiers, or a worker without a router, must wait and not be killed.
      livenessProbe: {httpGet: {path: /health, port: {{ .port }}}, periodSeconds: 10, failureThreshold: 6, timeoutSeconds: 5}
      readinessProbe: {httpGet: {path: /ready, port: {{ .port }}}, periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 5}
      {{- if .preStop }}
      lifecycle: {preStop: {sleep: {seconds: {{ .preStop }}}}}
      {{- end }}
      {{- include "slipstream.containerSecurity" . | nindent 6 }}
      resources: {{- include "slipstream.resources" .values | nindent 8 }}
      volumeMounts:
        - {name: model, mountPath: /model, readOnly: true}
        - {name: keys, mountPath: /keys, readOnly: true}
        {{- if and (eq .role "router") .root.Values.access.apiKeysSecret }}
        - {name: api-keys, mountPath: /api-keys, readOnly: true}
        {{- end }}
  volumes:
    - name: model
      {{- if eq .root.Values.model.source "image" }}
      emptyDir: {}
      {{- else }}
      persistentVolumeClaim: {claimName: {{ required "model.claim is the name of a PersistentVolumeClaim" .root.Values.model.claim }}, readOnly: true}
      {{- end }}
    - name: keys
      secret:
        secretName: {{ include "slipstream.keys" .root }}
        defaultMode: 0440
        items:
          - {key: {{ .role }}.key, path: {{ .role }}.key}
          {{- range list "router" "verifier" "drafter" }}
          - {key: {{ . }}.pub, path: peers/{{ . }}.pub}
          {{- end }}
    {{- if and (eq .role "router") .root.Values.access.apiKeysSecret }}
    - name: api-keys
      secret: {secretName: {{ .root.Values.access.apiKeysSecret }}, defaultMode: 0440}
    {{- end }}
  {{- with .values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "slipstream.selector" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- /* The flags of a verifier or a drafter. */ -}}
{{- define "slipstream.workerArgs" -}}
- --router=dns://{{ include "slipstream.name" . }}-routers.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}:7300
- --metrics=0.0.0.0:9100
- --open
- --advertise-metrics=$(POD_IP):9100
{{- end -}}
