import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';
import { type SigstoreInstance, type SigstoreSigner, startSigstore } from '../helpers/sigstore.ts';

const ADA: SigstoreSigner = { identity: 'ada@example.com', issuer: 'https://accounts.example.com' };
const EVE: SigstoreSigner = { identity: 'eve@example.com', issuer: 'https://accounts.example.com' };
const LIST = 'SHA256SUMS';

let at: Installation;
let base: string;
let company: SigstoreInstance;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'signed-')));
  company = await startSigstore();
  writeFileSync(join(base, 'trusted_root.json'), company.root);
  at = await install({
    settings: {
      'install.trusted_keys': JSON.stringify([`sigstore:${ADA.issuer}|${ADA.identity}`]),
      'install.require_signature': 'true',
      'install.sigstore_root': join(base, 'trusted_root.json'),
    },
  });
});
afterAll(async () => {
  await at.remove();
  rmSync(base, { recursive: true, force: true });
});

async function set(key: string, value: string): Promise<void> {
  const { code, stderr } = await at.run(CTXD, ['config', 'set', key, value]);
  expect([code, stderr]).toEqual([0, '']);
}

/** A tool in a folder; `sign` writes the list of its files, and the bundle over the list. */
function newTool(name: string): { dir: string; sign(by: SigstoreInstance, signer: SigstoreSigner): Promise<void> } {
  const dir = mkdtempSync(join(base, 'tool-'));
  makeTool(dir, { name });
  return {
    dir,
    async sign(by, signer) {
      const files = readdirSync(dir).filter((file) => !file.startsWith(LIST));
      const sumOf = (file: string): string =>
        createHash('sha256')
          .update(readFileSync(join(dir, file)))
          .digest('hex');
      const list = files.map((file) => `${sumOf(file)}  ./${file}\n`).join('');
      writeFileSync(join(dir, LIST), list);
      writeFileSync(join(dir, `${LIST}.sigstore.json`), await by.sign(Buffer.from(list), signer));
    },
  };
}

const installTool = (dir: string): Promise<Finished> => at.run(CTXD, ['tool', 'install', dir, '--yes']);

async function expectRefused(dir: string, fault: string): Promise<void> {
  const { code, stderr } = await installTool(dir);
  expect([code, stderr]).toEqual([1, expect.stringContaining(fault)]);
  const { stdout } = await at.run(CTXD, ['tool', 'list', '--json']);
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).not.toContain('refused');
}

describe('issue 17 part 3: ctxd tool install with a sigstore bundle', () => {
  it('installs a tool that a trusted identity of the configured instance signed, and says who', async () => {
    const tool = newTool('signed');
    await tool.sign(company, ADA);
    const { code, stderr } = await installTool(tool.dir);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`signed by ${ADA.identity} (sigstore, ${ADA.issuer});`),
    ]);
    expect((await at.ask('signed', { city: 'Oslo' })).data).toMatchObject({ input: { city: 'Oslo' } });
  });

  it('refuses a tool whose file, list or bundle was changed after it was signed', async () => {
    const changed = newTool('refused');
    await changed.sign(company, ADA);
    appendFileSync(join(changed.dir, 'main.sh'), '# changed\n');
    await expectRefused(changed.dir, 'another sha256 for main.sh');

    const bundle = readFileSync(join(changed.dir, `${LIST}.sigstore.json`));
    await changed.sign(company, ADA);
    writeFileSync(join(changed.dir, `${LIST}.sigstore.json`), bundle);
    await expectRefused(changed.dir, `${LIST} does not fit its sigstore bundle`);
  });

  it('refuses a tool without a signature, of an identity that nobody listed, and of another instance', async () => {
    const tool = newTool('refused');
    await expectRefused(tool.dir, 'has no signature, and install.require_signature is set');
    await tool.sign(company, EVE);
    await expectRefused(tool.dir, `is signed by ${EVE.identity}, whom nobody listed as trusted`);
    await tool.sign(await startSigstore(), ADA);
    await expectRefused(tool.dir, `${LIST} does not fit its sigstore bundle`);
  });

  it('says which trusted root cannot be used', async () => {
    const tool = newTool('refused');
    await tool.sign(company, ADA);
    for (const [file, fault] of [
      ['missing.json', 'missing.json, which cannot be read (ENOENT). Name the trusted_root.json'],
      ['empty.json', 'the trusted root of sigstore is not a trusted_root.json. Name another file'],
    ] as const) {
      if (file === 'empty.json') writeFileSync(join(base, file), '[]');
      await set('install.sigstore_root', join(base, file));
      await at.run(CTXD, ['server', 'restart']);
      await expectRefused(tool.dir, fault);
    }
  });
});
