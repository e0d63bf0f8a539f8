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
 * A script with the marks of the real gitleaks that finds `hush-` and 12 digits, keys of AWS, and nothing else, in a directory or on
 * stdin. It writes its report to `--report-path`, or prints what it finds while it reads; if `fail` is in its own folder it fails.
 */
export const FINDS_HUSH = `#!${process.execPath}
// path\t${GO_MODULE}
// mod\t${GO_MODULE}\tv8.30.1\th1:x
const fs = require('node:fs');
const path = require('node:path');
const [mode, folder, ...options] = process.argv.slice(2);
const fail = () => { if (fs.existsSync(path.join(__dirname, 'fail'))) process.exit(3); };
const print = (match) => fs.writeSync(1, 'Finding:     ' + match + '\\nSecret:      ' + match + '\\nRuleID:      hush\\n\\n');
if (process.argv.includes('--verbose')) {
  process.stdin.setEncoding('utf8').on('data', (text) => {
    fail();
    for (const [match] of text.matchAll(/hush-[0-9]{12}|AKIA[A-Z2-7]{16}/g)) print(match);
  });
} else {
  const files = mode === 'stdin' ? [0] : fs.readdirSync(folder).map((name) => path.join(folder, name));
  const texts = files.map((file) => ({ file, text: fs.readFileSync(file, 'utf8') }));
  fail();
  const found = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/hush-[0-9]{12}/g)].map(([secret]) => ({ RuleID: 'hush', Secret: secret, File: file || '' })));
  const report = mode === 'stdin' ? 1 : options[options.indexOf('--report-path') + 1];
  fs.writeFileSync(report, JSON.stringify(found));
}
`;
