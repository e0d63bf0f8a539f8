import { Transform, type TransformCallback } from 'node:stream';

const MASK = '*';
/** Shorter texts are in too many answers by chance. */
const LENGTH_MIN = 6;

/** The texts in which a host may return the value of a header: the secret, its password, and their usual encodings. */
export function spellings(value: string): readonly string[] {
  const [, scheme = '', rest = value] = /^(Basic|Bearer|token) (.*)$/s.exec(value) ?? [];
  const pair = scheme === 'Basic' ? Buffer.from(rest, 'base64').toString() : '';
  const secrets = pair === '' ? [rest] : [rest, pair, pair.slice(pair.indexOf(':') + 1)];
  const encoded = secrets.flatMap((text) => [text, ...inUrls(text), ...inBase64(text)]);
  // The longest first: what is masked is not found again in a part of it.
  return [...new Set(encoded)].filter(({ length }) => length >= LENGTH_MIN).toSorted((a, b) => b.length - a.length);
}

function inUrls(text: string): string[] {
  const encoded = encodeURIComponent(text);
  return [encoded, encoded.replace(/%[0-9A-F]{2}/g, (one) => one.toLowerCase())];
}

/** Without the padding, which not all encoders write. */
function inBase64(text: string): string[] {
  const forms = (['base64', 'base64url'] as const).map((form) => Buffer.from(text).toString(form));
  return forms.map((form) => form.replace(/=+$/, ''));
}

/** The text with the secrets masked, as long as before. */
export function masked(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK.repeat(secret.length)), text);
}

/** Masks secrets in a stream, whose length stays. It holds back only what may be the begin of a secret. */
export class SecretMask extends Transform {
  readonly #secrets: readonly Buffer[];
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: readonly string[]) {
    super();
    this.#secrets = secrets.map((secret) => Buffer.from(secret));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const data = Buffer.concat([this.#held, chunk]);
    for (const secret of this.#secrets)
      for (let at = data.indexOf(secret); at !== -1; at = data.indexOf(secret, at + secret.length))
        data.fill(MASK, at, at + secret.length);
    const end = data.length - Math.max(0, ...this.#secrets.map((secret) => begunLength(data, secret)));
    this.#held = data.subarray(end);
    done(null, data.subarray(0, end));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#held);
  }
}

/** The bytes at the end of the data that are the begin of the secret. */
function begunLength(data: Buffer, secret: Buffer): number {
  const first = Math.max(0, data.length - secret.length + 1);
  for (
    let at = data.indexOf(secret.subarray(0, 1), first);
    at !== -1;
    at = data.indexOf(secret.subarray(0, 1), at + 1)
  ) {
    const length = data.length - at;
    if (data.compare(secret, 0, length, at) === 0) return length;
  }
  return 0;
}
