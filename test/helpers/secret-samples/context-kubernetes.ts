import type { RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'kubernetes-secret': {
    match: ['kind: Secret\ndata:\n  user: YWRtaW4=\n  password: «[A-Za-z0-9]{16}==»\n'],
    clean: ['data:\n  name: abc\n', 'data:\n  replicas: 3\n  image: nginx\n'],
  },
  'kubernetes-secret-value': {
    match: ['data:\n  user: «[a-z]{3}[A-Z]{3}[0-9]{2}[A-Z]{2}==»\n'],
    clean: ['  name: value\n', '  a: ==\n', 'x=\n'],
  },
  'kubernetes-secret-json': {
    match: ['{"data":{"foo":"«[A-Za-z0-9]{19}=»"},"kind":"Secret"}'],
    clean: ['{"data":{"foo":"bar"},"kind":"ConfigMap"}', '{"data":{},"kind":"Secret"}'],
  },
  'kubernetes-string-data': {
    match: ['kind: Secret\nstringData:\n  db-dsn: «[a-z]{6}[0-9]{2}»'],
    clean: ['stringData:\n  x: $PW', 'stringData: {}'],
  },
  'kubernetes-literal': {
    match: ['kubectl create secret generic x --from-literal=password=«[a-z]{8}»'],
    clean: ['--from-literal=password=$PW', '--from-literal'],
  },
  'kubernetes-docker-password': {
    match: [
      'kubectl create secret docker-registry r --docker-password=«[a-z]{6}[0-9]{2}»',
      'helm install x --set db.password=«[a-z]{6}[0-9]{2}»',
    ],
    clean: ['--docker-password=$PW', '--set auth.existingSecret=name', '--set image.tag=v1'],
  },
  'kubeconfig-token': {
    match: ['- name: me\n  user:\n    token: «[a-z]{6}[0-9]{8}»\n'],
    clean: ['  user:\n    name: me\n', 'user:\n  token: string\n'],
  },
  'base64-private-key': {
    match: ['tls.key: «LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo[A-Za-z0-9+/]{80}=»'],
    clean: ['tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk[A-Za-z0-9+/]{80}', 'LS0tLS1CRUdJTi'],
  },
  'terraform-sensitive': {
    match: ['variable "db_password" {\n  type = string\n  default = "«[a-z]{8}»"\n}'],
    clean: [
      'variable "db_password" {\n  type = string\n}',
      'output "db_password" {\n  value = "$\\{x}"\n}',
      'variable "region" { default = "abcdef" }',
    ],
  },
  'terraform-state-output': {
    match: ['"db_password": {\n  "value": "«[a-z]{6}[0-9]{2}»",\n  "type": "string"\n}'],
    clean: ['"region": { "value": "abc1" }', '"db_password": { "value": "" }'],
  },
  'changed-value': {
    match: [
      '      ~ password = "a" -> "«[a-z]{6}[0-9]{2}»"',
      '    ~ apiKey: "a" => "«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»"',
      '        name  = "DB_PASSWORD"\n      ~ value = null -> "«[a-z]{6}[0-9]{2}»"',
      "password: 'a'->'«[a-z]{6}[0-9]{2}»'",
      'password: null → "«[a-z]{6}[0-9]{2}»"',
    ],
    clean: [
      '~ password = (sensitive value)',
      '~ password = "a" -> (known after apply)',
      '~ password = "a" -> "$\\{var.password}"',
      'token: String -> Result',
    ],
  },
};
