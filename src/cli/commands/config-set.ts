import { mkdir, open, rename, rm } from 'node:fs/promises';
import { acceptConfig, readConfigFile } from '../../config/load.ts';
import type { Paths } from '../../config/paths.ts';
import type { JsonObject } from '../../core/json.ts';
import { defineCommand } from '../command.ts';
import { checkSetting, parseValue, readSetting, requireSetting, withSetting } from '../settings.ts';

export const configSet = defineCommand({
  name: ['config', 'set'],
  summary: 'change one setting; a running daemon takes it up when it is restarted',
  parameters: [
    { syntax: '<key>', help: 'such as budget.default_tokens' },
    { syntax: '<value>', help: 'JSON, or plain text' },
  ],
  async run(context, given) {
    const key = requireSetting(given.requiredWord(0));
    const written = await readConfigFile(context.paths);
    const value = parseValue(given.requiredWord(1));
    checkSetting(written, key, value);
    const changed = withSetting(written, key, value);
    const config = acceptConfig(context.paths.configFile, changed);
    await replaceConfig(context.paths, changed);
    return { key, value: readSetting(config, key), file: context.paths.configFile, restart_needed: true };
  },
  view: ({ key, value, file }) => ({
    kind: 'lines',
    lines: [
      `${key} is ${JSON.stringify(value)} in ${file}`,
      'A running daemon takes it up when it is restarted: ctxd server restart',
    ],
  }),
});

/** Mode 0600, and under its name only once it is complete. */
async function replaceConfig(paths: Pick<Paths, 'configDir' | 'configFile'>, settings: JsonObject): Promise<void> {
  await mkdir(paths.configDir, { recursive: true, mode: 0o700 });
  const temporary = `${paths.configFile}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(settings, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, paths.configFile);
}
