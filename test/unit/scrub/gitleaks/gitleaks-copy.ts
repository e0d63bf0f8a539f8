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
 * A script with the marks of the real gitleaks that finds `hush-` and 12 digits, and nothing else, in a directory or on stdin.
 * It writes its report to `--report-path`; if `fail` is in its own folder it fails.
 */
export const FINDS_HUSH = `#!${process.execPath}
// path\t${GO_MODULE}
// mod\t${GO_MODULE}\tv8.30.1\th1:x
const fs = require('node:fs');
const path = require('node:path');
const [mode, folder, ...options] = process.argv.slice(2);
const files = mode === 'stdin' ? [0] : fs.readdirSync(folder).map((name) => path.join(folder, name));
const texts = files.map((file) => ({ file, text: fs.readFileSync(file, 'utf8') }));
if (fs.existsSync(path.join(__dirname, 'fail'))) process.exit(3);
const found = texts.flatMap(({ file, text }) =>
  [...text.matchAll(/hush-[0-9]{12}/g)].map(([secret]) => ({ RuleID: 'hush', Secret: secret, File: file || '' })));
const report = mode === 'stdin' ? 1 : options[options.indexOf('--report-path') + 1];
fs.writeFileSync(report, JSON.stringify(found));
`;
