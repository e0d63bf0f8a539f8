import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FetchedSignature, TrustedSigners } from '#src/install/messages.js';
import { verifyMinisign, verifySigstore } from '#src/install/signature.js';

const NOBODY: TrustedSigners = { minisign: [], sigstore: [], trusted_root: null };

/** Made with the real minisign 0.11 over the bytes "hello\n". */
const REAL = {
  key: 'RWRpi0o9jd/qLtFdSw/zfw3L8GI0AUBr5Xgg0P6sURKk9ewxcwWG3Lfb',
  id: '2EEADF8D3D4A8B69',
  hashed: `untrusted comment: signature from minisign secret key
RURpi0o9jd/qLjFCkRfsYPJ7wPH6b+uEQpnSUERBm2iFnd/OMlvKTxR1HXj2blEaUNxah4+lt1pWduDcZYt0DpQ/vJnv2JNb2gg=
trusted comment: signed for a test
Gd/o1R4Ve5mfjcsDkBqRaTcNFAA+FpKm/QdTuBKBrCJJ6BdNw4Eyx45yiQ/z6knj+4qMwOx1cWq8ndPY3T8YBg==
`,
  legacy: `untrusted comment: signature from minisign secret key
RWRpi0o9jd/qLpsQNkeeVn0sYLXew5Bwk5dIkEq/RqtaRnfUJCbWtCiSvwjJpS2MJlFJEiU3LG6FAv8jMWWkP8IkOR2osINhAgM=
trusted comment: old form
dcmJG2/TQi+A68z5/p2NWzJb/VcQHnDnMGiXxfJK5DucDWaRg2W6tiiY+L+Yt9N3hxkFmx6LadaKYynshJmbCQ==
`,
};
const hello = { name: 'hello', bytes: Buffer.from('hello\n') };
const trusting = (key: string): TrustedSigners => ({ ...NOBODY, minisign: [{ name: 'Ada', key }] });

describe('issue 17 part 3: a minisign signature', () => {
  it('of the real minisign verifies, in its present form and in the older one', () => {
    const wanted: FetchedSignature = { kind: 'minisign', identity: 'Ada', issuer: null, trusted: true };
    expect(verifyMinisign(hello, REAL.hashed, trusting(REAL.key))).toEqual(wanted);
    expect(verifyMinisign(hello, REAL.legacy, trusting(REAL.key))).toEqual(wanted);
  });

  it('of a key that nobody listed is reported by its id and not trusted', () => {
    const found = verifyMinisign(hello, REAL.hashed, NOBODY);
    expect(found).toEqual({ kind: 'minisign', identity: `key ${REAL.id}`, issuer: null, trusted: false });
  });

  it('is INTEGRITY_FAILED after any change, of the bytes, the signature or the trusted comment', () => {
    const changed = { ...hello, bytes: Buffer.from('hellO\n') };
    const lines = REAL.hashed.split('\n');
    const flip = (line: number, at: number): string =>
      lines
        .map((text, n) => (n === line ? text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1) : text))
        .join('\n');
    expect(() => verifyMinisign(changed, REAL.hashed, trusting(REAL.key))).toThrow(/not what Ada/);
    expect(() => verifyMinisign(changed, REAL.legacy, trusting(REAL.key))).toThrow(/not what Ada/);
    for (const [line, at] of [
      [1, 40],
      [1, 80],
      [2, 20],
      [3, 10],
    ] as const)
      expect(() => verifyMinisign(hello, flip(line, at), trusting(REAL.key)), `line ${line}`).toThrow(/not what Ada/);
  });

  it.each(['', 'hello', 'untrusted comment: x\nAAAA\ntrusted comment: y\nAAAA\n', '\0'.repeat(100)])(
    '%j is not one',
    (text) => {
      expect(() => verifyMinisign(hello, text, trusting(REAL.key))).toThrow(/not a minisign signature/);
    },
  );

  it('a listed key that is not a public key is SCHEMA_INVALID', () => {
    for (const key of ['', 'RWRpi0o9', REAL.key.toLowerCase(), `${REAL.key} `])
      expect(() => verifyMinisign(hello, REAL.hashed, trusting(key)), key).toThrow(
        expect.objectContaining({ code: 'SCHEMA_INVALID' }),
      );
  });
});

const SIGSTORE = join(import.meta.dirname, '../../fixtures/sigstore');
const signed = { name: 'a.txt', bytes: readFileSync(join(SIGSTORE, 'a.txt')) };
const bundle = (name: string): string => readFileSync(join(SIGSTORE, `${name}.json`), 'utf8');
const BEACON = {
  identity:
    'https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/.github/workflows/extremely-dangerous-oidc-beacon.yml@refs/heads/main',
  issuer: 'https://token.actions.githubusercontent.com',
};
const roots: Record<string, string | null> = { 'rekor2-happy-path': bundle('rekor2-trusted-root') };

describe('issue 17 part 3: a sigstore bundle (samples of sigstore-conformance)', () => {
  const names = readdirSync(SIGSTORE)
    .filter((file) => file.endsWith('.json') && file !== 'rekor2-trusted-root.json')
    .map((file) => file.slice(0, -'.json'.length));

  for (const name of names.filter((one) => !one.endsWith('_fail'))) {
    const signers = { ...NOBODY, trusted_root: roots[name] ?? null };
    it(`${name} verifies, and is trusted if its identity and its issuer are listed`, async () => {
      const found = await verifySigstore(signed, bundle(name), signers);
      expect(found).toEqual({ kind: 'sigstore', ...BEACON, trusted: false });
      const listed = { ...signers, sigstore: [BEACON] };
      expect((await verifySigstore(signed, bundle(name), listed)).trusted).toBe(true);
      const other = { ...signers, sigstore: [{ ...BEACON, issuer: 'https://accounts.example.com' }] };
      expect((await verifySigstore(signed, bundle(name), other)).trusted).toBe(false);
    });

    it(`${name} is INTEGRITY_FAILED for other bytes`, async () => {
      const other = { ...signed, bytes: Buffer.from('other') };
      await expect(verifySigstore(other, bundle(name), signers)).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
    });
  }

  it.each([...names.filter((one) => one.endsWith('_fail'))])('%s is INTEGRITY_FAILED', async (name) => {
    await expect(verifySigstore(signed, bundle(name), NOBODY)).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
  });

  it('a bundle of another instance than the trusted root is INTEGRITY_FAILED', async () => {
    const other = { ...NOBODY, trusted_root: bundle('rekor2-trusted-root') };
    await expect(verifySigstore(signed, bundle('happy-path-v0.3'), other)).rejects.toMatchObject({
      code: 'INTEGRITY_FAILED',
    });
  });

  it.each(['', '{}', '[]', 'null', '{"mediaType":"x"}'])('%j is INTEGRITY_FAILED', async (text) => {
    await expect(verifySigstore(signed, text, NOBODY)).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
  });
});
