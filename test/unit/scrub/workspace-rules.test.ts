import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Detector } from '#src/scrub/exact/detector.js';
import { loadConfig } from '#src/scrub/exact/load-config.js';
import { applyAllowances } from '#src/scrub/hardened/engine.js';
import { createWorkspaceRules } from '#src/scrub/workspace-rules.js';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'workspace-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const faults: string[] = [];
const approved = new Set<string>();
beforeEach(() => {
  faults.length = 0;
  approved.clear();
});
const reader = () =>
  createWorkspaceRules({
    isApproved: (_root, sha256) => approved.has(sha256),
    onFault: (_root, problem) => void faults.push(problem),
  });
const put = (text: string) => writeFile(join(root, '.gitleaks.toml'), text);

const FULL = `
[extend]
useDefault = true
path = "/etc/passwd"
disabledRules = ["aws-access-token"]
[allowlist]
regexes = ['''.*''']
[[allowlists]]
targetRules = ["base"]
stopwords = ["harmless"]
[[rules]]
id = "base"
[[rules.allowlists]]
regexes = ['''spared''']
[[rules]]
ID = "own"
Regex = '''own-[0-9]{4}'''
[[rules]]
id = "base"
regex = '''other-[0-9]{4}'''
`;
const BASE = loadConfig(
  {
    name: 'base',
    text: `[[rules]]\nid = "base"\nregex = '''base-\\w+'''\n[[rules]]\nid = "aws-access-token"\nregex = '''aws-\\d+'''`,
  },
  { readFile: () => '', official: null },
);
const found = (configs: Parameters<typeof applyAllowances>[0], text: string) =>
  configs.flatMap((config) => new Detector(config).detect(text).map(({ secret }) => secret));

describe('SEC-1.1 the .gitleaks.toml of a project', () => {
  it('has no effect without a file', async () => {
    expect(await reader().read(root)).toBeNull();
    expect(await reader().review(root)).toMatchObject({ sha256: null, approved: false, fault: null });
    expect(faults).toEqual([]);
  });

  it('only adds rules: it cannot excuse, disable or change anything or read another file', async () => {
    await put(FULL);
    const rules = await reader().read(root);
    expect(rules?.allowances).toBeNull();
    const added = (rules?.files ?? []).map((file) => loadConfig(file, { readFile: () => '', official: null }));
    expect(added.flatMap((config) => config.rules.map(({ id }) => id))).toEqual(['own', 'base']);
    expect(added.flatMap((config) => config.allowlists)).toEqual([]);
    expect(found(added, 'own-1234 other-5678')).toEqual(['own-1234', 'other-5678']);
    expect(found(applyAllowances([BASE], rules?.allowances ?? null), 'base-spared aws-1')).toEqual([
      'base-spared',
      'aws-1',
    ]);
  });

  it('has the approved effect with exactly the approved bytes only', async () => {
    await put(FULL.replace("[allowlist]\nregexes = ['''.*''']\n", ''));
    const rules = reader();
    const before = await rules.read(root);
    const review = await rules.review(root);
    expect(review).toMatchObject({ approved: false, rules: 2, fault: null });
    expect(review.allowances).toEqual([
      'turns the rule aws-access-token off',
      'excuses from base what matches stopwords harmless',
      'excuses from base what matches regexes spared',
    ]);
    approved.add(review.sha256 ?? '');
    const after = await rules.read(root);
    expect(after?.key).not.toBe(before?.key);
    const text = 'base-spared base-harmless base-other aws-1';
    expect(found(applyAllowances([BASE], after?.allowances ?? null), text)).toEqual(['base-other']);
    await put(`${FULL}\n# changed`);
    expect((await rules.read(root))?.allowances).toBeNull();
  });

  it.each([
    ['invalid TOML', 'rules = [', /not valid TOML/],
    ['a pattern that gitleaks refuses', "[[rules]]\nid = 'x'\nregex = '(?=a)'", /"x"/],
    ['a rule without an id', "[[rules]]\nregex = 'abc'", /id/],
    ['too many rules', "[[rules]]\nid = 'x'\nregex = 'a'\n".repeat(501), /501 rules, the most is 500/],
    ['too many bytes', `# ${'x'.repeat(256 * 1024)}`, /bytes, the most is 262144/],
  ])('is ignored and reported once: %s', async (_what, text, problem) => {
    await put(text);
    const rules = reader();
    expect(await rules.read(root)).toBeNull();
    expect(await rules.read(root)).toBeNull();
    expect(faults).toEqual([expect.stringMatching(problem)]);
    expect((await rules.review(root)).fault).toMatch(problem);
    await put("[[rules]]\nid = 'x'\nregex = 'fine-[0-9]+'");
    expect((await rules.read(root))?.files).toHaveLength(1);
  });

  it('must not be a link or a folder, and is read again only if it changed', async () => {
    await writeFile(join(root, 'elsewhere'), "[[rules]]\nid = 'x'\nregex = 'a'");
    await symlink(join(root, 'elsewhere'), join(root, '.gitleaks.toml'));
    const rules = reader();
    expect(await rules.read(root)).toBeNull();
    expect(faults).toEqual(['.gitleaks.toml: it is a link']);
    await rm(join(root, '.gitleaks.toml'));
    await mkdir(join(root, '.gitleaks.toml'));
    expect(await rules.read(root)).toBeNull();
    expect(faults[1]).toMatch(/not a regular file|EISDIR/);
    await rm(join(root, '.gitleaks.toml'), { recursive: true });
    await put("[[rules]]\nid = 'x'\nregex = 'a-[0-9]+'");
    const first = await rules.read(root);
    expect((await rules.read(root))?.files).toBe(first?.files);
    await utimes(join(root, '.gitleaks.toml'), 1, 1);
    expect(await rules.read(root)).toEqual(first);
  });
});
