import { describe, expect, it } from 'vitest';
import type { ToolDescription } from '#src/catalog/catalog.js';
import { ToolAccess } from '#src/catalog/tool-access.js';

const program = {
  host: { kind: 'host', profile: { minIsolation: 'reduced', limits: {} } },
  upstream: {
    kind: 'upstream',
    upstreamName: '',
    definitionSha256: '',
    declared: {},
    annotations: { readOnlyHint: true },
    profile: { minIsolation: 'reduced', limits: {} },
  },
} as const;

function mayUse(
  settings: Partial<ConstructorParameters<typeof ToolAccess>[0]>,
  name: string,
  {
    files = 'none',
    kind = 'host',
    project = '/p',
  }: { files?: 'none' | 'write'; kind?: keyof typeof program; project?: string } = {},
): boolean {
  const access = new ToolAccess({ allow: ['*'], deny: [], read_only: false, projects: {}, ...settings });
  const manifest: ToolDescription = {
    name,
    purpose: '',
    version: '',
    source: null,
    signature: null,
    grants: [],
    effects: { files, session: 'work' },
    isHost: false,
    budget: 'answer',
    isExact: false,
    text: null,
    answerNames: [],
  };
  return access.mayUse(project, { manifest, program: program[kind] });
}

describe('issue 34: a tool can be used', () => {
  it('if it is allowed and not denied', () => {
    expect(mayUse({}, 'safe_bash')).toBe(true);
    expect(mayUse({ allow: ['safe_*'] }, 'jobs')).toBe(false);
    expect(mayUse({ allow: ['safe_*'], deny: ['safe_bash'] }, 'safe_bash')).toBe(false);
    expect(mayUse({ deny: ['github:*'] }, 'github:create_issue#1a2b3c4d')).toBe(false);
  });

  it('in a project as the project says, otherwise as the machine does', () => {
    const settings = { deny: ['jobs'], projects: { '/q': { deny: ['safe_bash'] } } };
    expect(mayUse(settings, 'jobs', { project: '/q' })).toBe(true);
    expect(mayUse(settings, 'safe_bash', { project: '/q' })).toBe(false);
    expect(mayUse(settings, 'safe_bash')).toBe(true);
  });

  it('in the read-only mode if it writes no files, and if it is of a server only by its own name', () => {
    const settings = { read_only: true, allow: ['*', 'a:get#00000000'] };
    expect(mayUse(settings, 'safe_read')).toBe(true);
    expect(mayUse(settings, 'safe_write', { files: 'write' })).toBe(false);
    expect(mayUse(settings, 'a:get#00000000', { kind: 'upstream' })).toBe(true);
    // It says that it is read-only, which is not verified.
    expect(mayUse(settings, 'a:put#00000000', { kind: 'upstream' })).toBe(false);
  });
});

describe('issue 34: of resources with the same id', () => {
  const keys = ['', '~2', '~3'].map((twin) => `resource::a:x#1a2b3c4d${twin}`);
  const usable = (settings: { allow?: string[]; deny?: string[] }): string[] => {
    const access = new ToolAccess({ allow: ['*'], deny: [], read_only: false, projects: {}, ...settings });
    return keys.filter((key) => access.mayUsePrimitive('/p', 'a:resources', key));
  };

  it.each(keys)('none can be used if one is denied, whose number the others would tell: %s', (denied) => {
    expect(usable({ deny: [denied] })).toEqual([]);
  });

  it('only that one can be used whose key is allowed', () => {
    expect(usable({ allow: [keys[1] ?? ''] })).toEqual([keys[1]]);
  });
});
