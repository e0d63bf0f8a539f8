/** `-----BEGIN` in base64. */
const BEGIN = 'LS0tLS1CRUdJTi';
const PUBLIC = /^-----BEGIN (?:(?:TRUSTED |X509 )?CERTIFICATE(?: REQUEST)?|X509 CRL|(?:RSA |DSA |EC )?PUBLIC KEY)-----/;

/** Whether a value is nothing but certificates or public keys in base64, as a kubeconfig has them. */
export function isPublicPem(text: string, { start, end }: { start: number; end: number }): boolean {
  if (!text.startsWith(BEGIN, start)) return false;
  const pem = Buffer.from(text.slice(start, end), 'base64').toString('latin1');
  return PUBLIC.test(pem) && /-----END [^\n]*-----\s*$/.test(pem) && !pem.includes('PRIVATE KEY');
}
