import { expect, it } from 'vitest';
import { OTHER_CLIENTS } from '#src/cli/init/clients/other-clients.js';
import { describeChanges } from '#src/cli/init/describe-changes.js';
import { layoutFor } from '#src/cli/init/layout.js';
import { prepareInit } from '#src/cli/init/project.js';
import { createFixture, PROXY, TOOLS, toolText } from './tree.ts';

it('FR-2.1: each line of ctxd init says what a file is for, and the folders of many tools are one line each', async () => {
  const { root, projectsDir, remove } = await createFixture();
  try {
    const tools = [...TOOLS, toolText('safe_more')];
    const change = await prepareInit(root, layoutFor(tools, root, PROXY, true, OTHER_CLIENTS), projectsDir);
    const changes = await change.apply();
    const lines = describeChanges(changes);
    expect(lines.length).toBeLessThan(20);
    for (const line of lines) expect(line).toMatch(/^ {2}created {2}\S+ +[a-z0-9]\S* \S/i);
    expect(lines[0]).toMatch(/^ {2}created {2}\.claude\/tools\/ +4 tools for agents/);
    expect(lines.join('\n')).toMatch(/\.cursor\/rules\/contextd\.mdc +for Cursor/);
    const few = { created: ['.claude/bin/safe_read'], updated: [], removed: [], kept: [] };
    expect(describeChanges(few)).toEqual(['  created  .claude/bin/safe_read  a command of agents']);
  } finally {
    await remove();
  }
});
