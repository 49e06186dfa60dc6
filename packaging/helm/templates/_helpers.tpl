{{- define "nsadmin.name" -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- end }}

{{- define "nsadmin.image" -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end }}

{{/* labels of one component: (list . "namesrv") */}}
{{- define "nsadmin.labels" -}}
{app.kubernetes.io/name: nsadmin, app.kubernetes.io/instance: {{ (index . 0).Release.Name }}, app.kubernetes.io/component: {{ index . 1 }}}
{{- end }}

{{/* Addresses of the name servers of this chart, by pod: a broker must register with each of them. */}}
{{- define "nsadmin.nsaddr" -}}
{{- $name := include "nsadmin.name" . -}}
{{- range $n := until (int .Values.namesrv.replicas) }}{{ if $n }};{{ end }}{{ $name }}-namesrv-{{ $n }}.{{ $name }}-namesrv:9876{{ end }}
{{- end }}

{{- define "nsadmin.pod" -}}
enableServiceLinks: false
automountServiceAccountToken: false
securityContext: {runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "nsadmin.container" -}}
image: {{ include "nsadmin.image" . }}
securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
{{- end }}

{{/* Environment of the programs that ask name servers. A template may add variables below. */}}
{{- define "nsadmin.client" -}}
{{- with .Values.accessSecret }}
envFrom:
  - secretRef: {name: {{ . }}}
{{- end }}
env:
  - {name: NAMESRV_ADDR, value: {{ .Values.namesrvAddr | default (include "nsadmin.nsaddr" .) | quote }}}
{{- if .Values.caSecret }}
  - {name: NSADMIN_TLS, value: "1"}
  - {name: NSADMIN_TLS_CA, value: /tls/ca.crt}
{{- end }}
{{- end }}

{{- define "nsadmin.clientMounts" -}}
- {name: home, mountPath: /var/lib/nsadmin}
- {name: tmp, mountPath: /tmp}
{{- if .Values.caSecret }}
- {name: ca, mountPath: /tls, readOnly: true}
{{- end }}
{{- end }}

{{- define "nsadmin.clientVolumes" -}}
- {name: home, emptyDir: {}}
- {name: tmp, emptyDir: {}}
{{- with .Values.caSecret }}
- {name: ca, secret: {secretName: {{ . }}}}
{{- end }}
{{- end }}
