import 'reflect-metadata';
import { createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { generate } from '../sample-patterns.ts';
import { type Kind, kebab, number, one, word } from './sessions.ts';

type Random = () => number;

interface Identity {
  key: string;
  certificate: string;
  publicKey: string;
}

const DAY_MS = 24 * 3_600_000;
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
} as const;
const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Keys cost a tenth of a second: each generator uses the same few. */
let made: Promise<readonly Identity[]> | undefined;

function identities(): Promise<readonly Identity[]> {
  made ??= Promise.all([
    identity('RSA', 'pkcs8'),
    identity('RSA', 'pkcs1'),
    identity('EC', 'pkcs8'),
    identity('EC', 'sec1'),
  ]);
  return made;
}

async function identity(kind: 'RSA' | 'EC', type: 'pkcs8' | 'pkcs1' | 'sec1'): Promise<Identity> {
  const algorithm = kind === 'RSA' ? RSA : EC;
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=cluster.internal, O=Cluster',
    keys,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 300 * DAY_MS),
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return {
    key: String(key.export({ format: 'pem', type })),
    certificate: `${certificate.toString('pem')}\n`,
    publicKey: String(createPublicKey(key).export({ format: 'pem', type: 'spki' })),
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const indented = (text: string, by: string): string => text.trimEnd().replaceAll('\n', `\n${by}`);

type Write = (own: Identity, other: Identity, random: Random) => string[];

function session(write: Write): Kind['makers'][string] {
  return async (random) => {
    const all = await identities();
    const own = one(all, random);
    return { texts: write(own, one(all, random), random) };
  };
}

/** A private key, and what the same file, or the next one, holds that is public. */
export const publicMaterial: Kind = {
  name: 'public material beside private keys',
  makers: {
    'a kubeconfig': session((own, other, random) => [
      `apiVersion: v1\nkind: Config\nclusters:\n- name: ${word(random)}\n  cluster:\n    certificate-authority-data: ${base64(other.certificate)}\n    server: https://${kebab(random)}:6443\nusers:\n- name: ${word(random)}\n  user:\n    client-certificate-data: ${base64(own.certificate)}\n    client-key-data: «${base64(own.key)}»\n`,
    ]),
    'a kubeconfig, the key first': session((own, other, random) => [
      `users:\n- name: ${word(random)}\n  user:\n    client-key-data: «${base64(own.key)}»\n    client-certificate-data: ${base64(own.certificate)}\nclusters:\n- cluster:\n    certificate-authority-data: ${base64(other.certificate)}\n`,
      `    certificate-authority-data: ${base64(own.certificate)}\n`,
    ]),
    'a TLS secret': session((own, other, random) => [
      `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${kebab(random)}\ntype: kubernetes.io/tls\ndata:\n  ca.crt: ${base64(other.certificate)}\n  tls.crt: ${base64(own.certificate)}\n  tls.key: «${base64(own.key)}»\n`,
    ]),
    'a TLS secret in JSON': session((own, _, random) => [
      `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"${kebab(random)}"},"type":"kubernetes.io/tls","data":{"tls.crt":"${base64(own.certificate)}","tls.key":"«${base64(own.key)}»"}}\n`,
      `${own.certificate}`,
    ]),
    'a webhook after a key': session((own, other, random) => [
      `«${own.key.trimEnd()}»\n`,
      `webhooks:\n- name: ${word(random)}.example.com\n  clientConfig:\n    caBundle: ${base64(own.certificate)}\n  failurePolicy: Fail\n- clientConfig:\n    caBundle: ${base64(other.certificate)}\n`,
    ]),
    'certificates in PEM after a key': session((own, other) => [
      `«${own.key.trimEnd()}»\n`,
      `${own.certificate}${other.certificate}`,
      own.publicKey,
    ]),
    'a key and its certificate in one file': session((own) => [`${own.certificate}«${own.key.trimEnd()}»\n`]),
    'a certificate in YAML after a key in YAML': session((own, _, random) => [
      `tls:\n  key: |\n    «${indented(own.key, '    ')}»\n  cert: |\n    ${indented(own.certificate, '    ')}\n  name: ${word(random)}\n`,
    ]),
    'a key and public keys in strings of JSON': session((own, other) => [
      `{"private_key":"«${own.key.trimEnd().replaceAll('\n', '\\n')}»"}\n`,
      `{"certificate":"${own.certificate.replaceAll('\n', '\\n')}","public_key":"${other.publicKey.replaceAll('\n', '\\n')}"}\n`,
    ]),
    'a chain in base64': session((own, other) => [
      `tls_key_b64 = "«${base64(own.key)}»"\n`,
      `tls_chain_b64 = "${base64(own.certificate + other.certificate)}"\n`,
    ]),
    'a state of Terraform': session((own, other, random) => [
      `    {\n      "type": "tls_private_key",\n      "instances": [{ "attributes": {\n        "algorithm": "RSA",\n        "id": "${generate('[0-9a-f]{40}', random)}",\n        "private_key_pem": "«${inString(own.key.trimEnd())}»\\n",\n        "public_key_fingerprint_md5": "${generate('[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}', random)}",\n        "public_key_pem": "${inString(own.publicKey)}"\n      } }]\n    },\n`,
      `      "type": "tls_locally_signed_cert",\n        "attributes": {\n          "ca_cert_pem": "${inString(other.certificate)}",\n          "ca_key_algorithm": "RSA",\n          "ca_private_key_pem": "«${inString(other.key.trimEnd())}»\\n",\n          "cert_pem": "${inString(own.certificate)}",\n          "cert_request_pem": "${inString(own.certificate).replaceAll('CERTIFICATE', 'CERTIFICATE REQUEST')}"\n        }\n`,
      `          "certificate_authority": [{ "data": "${base64(own.certificate)}" }],\n          "certificate_chain": "${inString(own.certificate + other.certificate)}",\n          "client_certificate": "${inString(own.certificate)}",\n          "client_key": "«${inString(own.key.trimEnd())}»\\n",\n          "cluster_ca_certificate": "${base64(other.certificate)}"\n`,
    ]),
    'a certificate in pieces': session((own, _, random) => {
      const piece = number(30, 64, random);
      const pieces = bodyOf(own.certificate).match(new RegExp(`.{1,${piece}}`, 'g')) ?? [];
      return [
        `«${own.key.trimEnd()}»\n`,
        `          "certificate_body": [\n${pieces.map((one) => `            "${one}",\n`).join('')}          ],\n`,
        `  ~ server_cert = "${pieces.slice(0, 9).join('\\n')}" -> (known after apply)\n`,
        `${pieces.map((one) => `      + ${one}\n`).join('')}`,
      ];
    }),
    'a certificate without its lines': session((own, other) => [
      `«${own.key.trimEnd()}»\n`,
      `<ds:X509Certificate>${bodyOf(other.certificate)}</ds:X509Certificate>\n`,
    ]),
  },
};

function inString(pem: string): string {
  return pem.replaceAll('\n', '\\n');
}

function bodyOf(pem: string): string {
  return pem.replaceAll(/-----[^\n]*-----|\n/g, '');
}
