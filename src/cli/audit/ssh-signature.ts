import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { ContextdError } from '../../core/errors.ts';

const PROGRAM = 'ssh-keygen';
/** A signature for another purpose, such as a commit of git, does not pass for one of a head. */
const NAMESPACE = 'audit-head@contextd';

/** A signature of `text` by `ssh-keygen -Y sign`. `key`: a private key, or a public one whose private key an agent holds. */
export async function signText(text: string, key: string): Promise<string> {
  const { ok, stdout, reason } = await sshKeygen(['-Y', 'sign', '-n', NAMESPACE, '-f', key], text);
  if (ok) return stdout;
  throw new ContextdError('ARGS_INVALID', `${PROGRAM} cannot sign with ${key}: ${reason}`, {
    remedy: 'Name an SSH key: a private key, or a public key whose private key is in ssh-agent.',
  });
}

/** Who signed `text`, as a file of allowed signers names them (ssh-keygen(1)); null if the signature proves none of them. */
export async function signerOf(text: string, signature: string, allowedSigners: string): Promise<string | null> {
  const dir = await mkdtemp(join(tmpdir(), 'contextd-signature-'));
  const file = join(dir, 'signature');
  try {
    await writeFile(file, signature, { mode: 0o600 });
    const found = await sshKeygen(['-Y', 'find-principals', '-s', file, '-f', allowedSigners], '');
    const [signer = ''] = found.ok ? found.stdout.split('\n') : [];
    if (signer === '') return null;
    const args = ['-Y', 'verify', '-n', NAMESPACE, '-I', signer, '-s', file, '-f', allowedSigners];
    return (await sshKeygen(args, text)).ok ? signer : null;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** It may ask for a passphrase at the terminal, and use an agent: it gets the person's environment. */
async function sshKeygen(
  args: readonly string[],
  input: string,
): Promise<{ ok: boolean; stdout: string; reason: string }> {
  const { failed, code, stdout, stderr } = await execa(PROGRAM, args, { input, reject: false });
  if (code === 'ENOENT') {
    throw new ContextdError('TOOL_NOT_FOUND', `${PROGRAM} is not on PATH`, {
      remedy: 'Install OpenSSH 8.2 or newer.',
    });
  }
  const reason = stderr
    .split('\n')
    .filter((line) => !line.startsWith('Signing data'))
    .join('; ');
  return { ok: !failed, stdout, reason };
}
