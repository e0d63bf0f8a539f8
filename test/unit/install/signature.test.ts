import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ContextdError } from '#src/core/errors.js';
import type { FetchedSignature, TrustedSigners } from '#src/install/messages.js';
import { verifyMinisign, verifySigstore } from '#src/install/signature.js';
import { FetchPlace } from '../../helpers/fetch-into.ts';
import { tarOf } from '../../helpers/hostile-archives.ts';
import { newSigner } from '../../helpers/minisign.ts';

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

describe('issue 17 part 3: the signature of a tool', () => {
  const place = new FetchPlace();
  afterAll(() => place.remove());
  const signer = newSigner();
  const ada = trusting(signer.key);
  const archive = tarOf([{ path: 'tool/tool.json', body: '{}' }]);
  const required = { signers: ada, requireSignature: true };
  const sumsOf = (files: Record<string, string>): string =>
    Object.entries(files)
      .map(([path, text]) => `${createHash('sha256').update(text).digest('hex')}  ./${path}\n`)
      .join('');

  /** A folder with these files, and a list of `listed` that is signed. */
  function folder(name: string, files: Record<string, string>, listed = files): string {
    const dir = join(place.dir, name);
    mkdirSync(dir);
    for (const [path, text] of Object.entries(files)) writeFileSync(join(dir, path), text);
    writeFileSync(join(dir, 'SHA256SUMS'), sumsOf(listed));
    writeFileSync(join(dir, 'SHA256SUMS.minisig'), signer.sign(Buffer.from(sumsOf(listed))));
    return dir;
  }

  async function faultOf(source: string, more: object): Promise<ContextdError | null> {
    return (await place.fetch(source, more)).error;
  }

  it('beside an archive is found and checked before anything is unpacked', async () => {
    const path = join(place.dir, 'tool.tgz');
    writeFileSync(path, archive);
    writeFileSync(`${path}.minisig`, signer.sign(archive));
    expect((await place.fetch(path, required)).tool?.signature).toMatchObject({ identity: 'Ada', trusted: true });
    writeFileSync(`${path}.minisig`, signer.sign(Buffer.from('other')));
    const { error, progress } = await place.fetch(path, { signers: ada });
    expect(error?.code).toBe('INTEGRITY_FAILED');
    expect(progress.map(({ step }) => step)).not.toContain('unpack');
  });

  it('of a folder is over its SHA256SUMS, which lists exactly its files', async () => {
    const files = { 'tool.json': '{}', run: 'x' };
    const { tool } = await place.fetch(folder('good', files), required);
    expect(tool?.signature).toMatchObject({ kind: 'minisign', identity: 'Ada', trusted: true });
    const changed = await faultOf(folder('changed', files, { ...files, run: 'y' }), { signers: ada });
    const added = await faultOf(folder('added', files, { run: 'x' }), { signers: ada });
    const removed = await faultOf(folder('removed', files, { ...files, more: 'z' }), { signers: ada });
    expect([changed, added, removed].map((error) => error?.code)).toEqual(Array(3).fill('INTEGRITY_FAILED'));
    expect(changed?.message).toMatch(/another sha256 for run/);
    expect(added?.message).toMatch(/does not list tool.json/);
    expect(removed?.message).toMatch(/lists more, which is not there/);
  });

  it('is missing: the tool installs, unless a signature is required', async () => {
    const path = join(place.dir, 'unsigned.tgz');
    writeFileSync(path, archive);
    expect((await place.fetch(path, { signers: ada })).tool?.signature).toBeNull();
    const error = await faultOf(path, required);
    expect([error?.code, error?.remedy]).toEqual(['INTEGRITY_FAILED', expect.stringContaining('install.trusted_keys')]);
  });

  it('is of someone nobody listed: the tool installs and says so, unless a signature is required', async () => {
    const path = join(place.dir, 'stranger.tgz');
    writeFileSync(path, archive);
    writeFileSync(`${path}.minisig`, newSigner().sign(archive));
    expect((await place.fetch(path, { signers: ada })).tool?.signature).toMatchObject({ trusted: false });
    expect((await faultOf(path, required))?.message).toMatch(/nobody listed as trusted/);
  });
});
