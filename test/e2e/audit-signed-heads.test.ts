import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { writeLogAgain } from '../helpers/write-log-again.ts';

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: false });
});
afterAll(() => at.remove());

const ctxd = (...args: string[]) => at.run(CTXD, args);

function newKey(name: string): string {
  const file = join(at.home, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file]);
  return file;
}

describe('a head that a person signed', () => {
  it('SEC-5.4 proves the log against who has the key of the log, and only with a signature of an allowed signer', async () => {
    const [mine, other] = [newKey('mine'), newKey('other')];
    const publicKey = readFileSync(`${mine}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
    const allowed = join(at.home, 'allowed');
    writeFileSync(allowed, `ann@example.com namespaces="audit-head@contextd" ${publicKey}\n`);
    await at.ask('safe_bash', { command: 'echo evil' });
    await ctxd('server', 'stop');

    const heads = join(at.home, 'heads.jsonl');
    const signed = await ctxd('audit', 'head', '--sign', mine);
    writeFileSync(heads, signed.stdout);
    const verify = () => ctxd('audit', 'verify', '--against', heads, '--allowed-signers', allowed);
    expect(await verify()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok: .*\n1 head signed by ann@example\.com\n$/),
    });

    const { seq } = JSON.parse((await ctxd('audit', 'head')).stdout);
    for (const forged of [
      (await ctxd('audit', 'head', '--sign', other)).stdout,
      (await ctxd('audit', 'head')).stdout,
      signed.stdout.replace(/\\"segment\\":1/, '\\"segment\\":2'),
    ]) {
      writeFileSync(heads, forged);
      expect(await verify()).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^ok: .*\n[\s\S]*No head counted/),
      });
      writeFileSync(heads, `${forged}${signed.stdout}`);
      const beside = await verify();
      expect(beside).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^ok: .*\n1 head signed by ann@example\.com\n/),
      });
    }
    writeFileSync(heads, (await ctxd('audit', 'head')).stdout);
    expect((await verify()).stdout).toContain(
      `the head of record ${seq} in ${heads} is not signed by anyone in ${allowed}: it counts for nothing`,
    );

    writeFileSync(heads, signed.stdout);
    writeLogAgain(at.home, (line) => line.replaceAll('echo evil', 'echo good'));
    expect((await ctxd('audit', 'verify')).stdout).toMatch(/^ok: /);
    expect(await verify()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`as ${heads}, signed by ann@example.com, has it: the log was written again`),
    });
  });

  it('SEC-5.4 is refused with a file that is no key, and without a head to check', async () => {
    const noKey = join(at.home, 'heads.jsonl');
    expect(await ctxd('audit', 'head', '--sign', noKey)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`ssh-keygen cannot sign with ${noKey}`),
    });
    expect(await ctxd('audit', 'verify', '--allowed-signers', noKey)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--allowed-signers needs heads to check'),
    });
  });
});
