import { chmod, writeFile } from 'node:fs/promises';
import { GO_MODULE } from '#src/scrub/gitleaks/pinned.js';

/** The bytes of a Go program with the version in its build information. */
export function programBytes(version = 'v8.30.1'): Buffer {
  return Buffer.concat([
    Buffer.from('\x7fELF'),
    Buffer.alloc(64, 0xc3),
    Buffer.from(`path\t${GO_MODULE}\nmod\t${GO_MODULE}\t${version}\th1:x\n`),
    Buffer.alloc(64, 0xc3),
  ]);
}

export async function putProgram(file: string, bytes: Buffer): Promise<void> {
  await writeFile(file, bytes);
  await chmod(file, 0o755);
}

/**
 * A script with the marks of the real gitleaks that finds `hush-` and 12 digits, and nothing else. It writes its report
 * to `--report-path`; if `fail` is in its own folder it fails.
 */
export const FINDS_HUSH = `#!${process.execPath}
// path\t${GO_MODULE}
// mod\t${GO_MODULE}\tv8.30.1\th1:x
const fs = require('node:fs');
const path = require('node:path');
const args = process.argv.slice(2);
if (fs.existsSync(path.join(__dirname, 'fail'))) process.exit(3);
const found = [];
for (const name of fs.readdirSync(args[1])) {
  const file = path.join(args[1], name);
  for (const [secret] of fs.readFileSync(file, 'utf8').matchAll(/hush-[0-9]{12}/g))
    found.push({ RuleID: 'hush', Secret: secret, File: file });
}
fs.writeFileSync(args[args.indexOf('--report-path') + 1], JSON.stringify(found));
`;
