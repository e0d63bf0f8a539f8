import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ContextdError } from '#src/core/errors.js';
import type { TrustedSigners } from '#src/install/messages.js';
import { FetchPlace } from '../helpers/fetch-into.ts';
import { tarOf } from '../helpers/hostile-archives.ts';
import { newSigner } from '../helpers/minisign.ts';

describe('issue 17 part 3: the signature of a tool', () => {
  const place = new FetchPlace();
  afterAll(() => place.remove());
  const signer = newSigner();
  const ada: TrustedSigners = { minisign: [{ name: 'Ada', key: signer.key }], sigstore: [], trusted_root: null };
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
