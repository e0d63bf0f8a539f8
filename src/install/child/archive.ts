import { open } from 'node:fs/promises';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { ArchiveFile } from './archive-file.ts';
import { shown } from './names.ts';
import { readTar } from './tar.ts';
import type { Tree } from './tree.ts';
import { readZip } from './zip.ts';

const HEAD_BYTES = 512;

/** Adds the entries of an archive to `tree`. Its first bytes say what it is; its name does not. */
export async function readArchive(archive: ArchiveFile, tree: Tree): Promise<void> {
  const { head, size } = await readHead(archive);
  archive.meter.begin('unpack', `Unpacking ${archive.name}`);
  const [isGzip, isZip] = [head[0] === 0x1f && head[1] === 0x8b, head.toString('latin1', 0, 2) === 'PK'];
  if (!isGzip && !isZip) throw notAnArchive(archive.name, size === 0 ? 'it is empty' : `it begins with ${begin(head)}`);
  try {
    await (isGzip ? readTar(archive, tree) : readZip(archive, tree, size));
  } catch (thrown) {
    if (
      thrown instanceof ContextdError ||
      (isErrno(thrown) && /^(?:EN|EDQ|EF|EIO|EROFS|EACC|EPERM)/.test(thrown.code ?? ''))
    )
      throw thrown;
    throw notAnArchive(archive.name, thrown instanceof Error ? thrown.message : 'it cannot be read');
  }
  await tree.finish();
}

async function readHead({ path }: ArchiveFile): Promise<{ head: Buffer; size: number }> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return { head: buffer.subarray(0, bytesRead), size: (await handle.stat()).size };
  } finally {
    await handle.close();
  }
}

function begin(head: Buffer): string {
  const text = head.toString('utf8').trimStart();
  return /^<(?:!doctype|html|\?xml)/i.test(text) ? 'a web page' : shown(text.slice(0, 16));
}

function notAnArchive(name: string, fault: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `${name} is not a whole .tar.gz or .zip archive: ${fault.slice(0, 300)}`, {
    remedy:
      'Check the address, and try again: the download may be damaged, or the server may have sent something else.',
  });
}
